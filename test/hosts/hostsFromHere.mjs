// For programs that import dist/: adapters find the hosts that are installed here, as they do beside an installed package.
import { register } from 'node:module';

const resolver = `export const resolve = (name, context, next) =>
  next(name, /^(?:langchain|@google\\/adk|@modelcontextprotocol\\/sdk\\/.+)$/.test(name) ? { ...context, parentURL: ${JSON.stringify(import.meta.url)} } : context);`;
register(`data:text/javascript,${encodeURIComponent(resolver)}`);
