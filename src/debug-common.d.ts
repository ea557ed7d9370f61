declare module 'debug/src/common.js' {
  import type createDebug from 'debug';
  /** The part of debug 4 that knows no terminal and no browser: it takes what those say of themselves. */
  export default function setup(environment: {
    readonly log: (...args: unknown[]) => void;
    readonly formatArgs: (this: createDebug.Debugger, args: unknown[]) => void;
    readonly load: () => string | undefined;
    readonly save: (namespaces: string) => void;
    readonly useColors: () => boolean;
    readonly colors: readonly number[];
    readonly destroy: () => void;
  }): typeof createDebug;
}
