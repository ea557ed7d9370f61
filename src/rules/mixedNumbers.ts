import type * as Cel from '@bufbuild/cel';

/**
 * Lets expressions reckon with an `int` and a `double`, as they may compare them. Each number of JSON is a `double`, each
 * that an expression writes without a point an `int`, and whoever writes `tool_input.count + 1` knows of neither.
 */
export function reckonMixed({ celFunc, CelScalar }: typeof Cel): Cel.CelFunc[] {
  const { DOUBLE, INT } = CelScalar;
  return Object.entries(OPERATIONS).flatMap(([name, reckon]) => [
    celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => reckon(left, Number(right))),
    celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => reckon(Number(left), right)),
    ...(name === REST ? [celFunc(name, [DOUBLE, DOUBLE], DOUBLE, reckon)] : []),
  ]);
}

/** The rest of a division, which CEL has for integers only. */
const REST = '_%_';

const OPERATIONS: Readonly<Record<string, (left: number, right: number) => number>> = {
  '_+_': (left, right) => left + right,
  '_-_': (left, right) => left - right,
  '_*_': (left, right) => left * right,
  '_/_': (left, right) => left / right,
  [REST]: (left, right) => {
    if (right === 0) throw new Error('modulus by zero');
    return left % right;
  },
};
