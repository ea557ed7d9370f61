/** An MCP server: a program that speaks over its stdin and stdout, or one that is reached over HTTP. */
export interface McpServer {
  /** Default: what the other keys say. */
  readonly type?: 'stdio' | 'http';
  /** The program, which is started without a shell. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** More variables of the program; `${NAME}` in a value is a variable of the host. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the program runs; relative to the project. Default: the project. */
  readonly cwd?: string;
  /** `https://…`; without TLS only on this machine. */
  readonly url?: string;
  /** More headers of each request; `${NAME}` in a value is a variable of the host. */
  readonly headers?: Readonly<Record<string, string>>;
}
