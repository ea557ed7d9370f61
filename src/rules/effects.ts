import type { SyntaxNode } from 'unbash';
import type { WordValues, ShellState } from './shellState.js';

/** Who is told of effects. */
export interface EffectHost {
  doubt(reason: string): void;
  assign(name: string, fields: WordValues, state: ShellState): void;
}

/** Variables whose value other programs give to a shell. */
export const COMMAND_VARIABLES =
  /^(?:GIT_(?:.*EDITOR|.*PAGER|SSH_COMMAND|SSH|PROXY_COMMAND|EXTERNAL_DIFF|ASKPASS)|.*_?EDITOR|VISUAL|(?:MAN)?PAGER|BROWSER|LESSOPEN|LESSCLOSE|RSYNC_RSH|SSH_ASKPASS|SUDO_ASKPASS|FZF_DEFAULT_COMMAND|RUSTC_WRAPPER|CMD_ENV)$/;

const STARTS_SHELLS = /^(?:BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_.*|SHELL)$/;
const EXPANDED = /^PS[0-4]$/;
const SUBSTITUTION = /\$\(|`|\$\{/;

/** How the name of a variable begins. */
export const NAME = /^[A-Za-z_]\w*/;
/** A text that runs commands where it is worked out as a number. */
export const EVALUATED = /\[.*(?:\$\(|`)/s;

/** Why it cannot be told what an assignment starts. */
export function assignmentHazard(name: string, fields: WordValues): string | undefined {
  if (STARTS_SHELLS.test(name) && fields?.every(({ value }) => value === '') !== true) {
    return `sets ${name}, by which a shell starts more`;
  }
  const isExpanded = !fields || fields.some(({ value }) => SUBSTITUTION.test(value));
  return EXPANDED.test(name) && isExpanded
    ? `sets ${name}, in which a shell runs commands`
    : undefined;
}

/** Notes what expansions and expressions assign, or run themselves. */
export function noteEffects(node: SyntaxNode, state: ShellState, host: EffectHost): void {
  switch (node.type) {
    case 'ArithmeticBinary':
      if (/^(?:[-+*/%&^|]|<<|>>)?=$/.test(node.operator)) forget(node.left, state, host);
      break;
    case 'ArithmeticUnary':
      if (/^(?:\+\+|--)$/.test(node.operator)) forget(node.operand, state, host);
      break;
    case 'ArithmeticWord': {
      const values = NAME.test(node.value) ? (state.get(NAME.exec(node.value)![0]) ?? []) : [];
      if (EVALUATED.test(node.value) || values.some(({ value }) => EVALUATED.test(value))) {
        host.doubt(`works out ${node.value} as a number, which runs commands in it`);
      }
      break;
    }
    case 'ParameterExpansion': {
      const { operation, parameter, prefix } = node;
      if (operation?.type === 'Default' && operation.operator.endsWith('='))
        state.set(parameter, undefined);
      const isPrompt = operation?.type === 'Transform' && operation.operand.text.includes('P');
      const values = state.get(parameter);
      const runs = isPrompt && (!values || values.some(({ value }) => SUBSTITUTION.test(value)));
      const isIndirect = prefix === '!' && values?.some(({ value }) => EVALUATED.test(value));
      if (runs || isIndirect) host.doubt(`expands ${node.text}, which runs commands in it`);
      break;
    }
    case 'TestUnary':
      if (node.operator === '-v' && EVALUATED.test(node.operand.value))
        host.doubt(`has \`[[\` work out ${node.operand.text}`);
      break;
    case 'TestBinary':
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
        for (const { text, value } of [node.left, node.right]) {
          const values = NAME.test(value) ? (state.get(value) ?? []) : [];
          if (EVALUATED.test(value) || values.some((each) => EVALUATED.test(each.value)))
            host.doubt(`works out ${text} as a number, which runs commands in it`);
        }
      }
  }
}

function forget(target: SyntaxNode, state: ShellState, host: EffectHost): void {
  const name = target.type === 'ArithmeticWord' ? NAME.exec(target.value)?.[0] : undefined;
  if (name === undefined) state.forgetVariables();
  else host.assign(name, undefined, state);
}
