// Blocks a tool call whose arguments match a rule of the manifest.

/**
 * A rule that cannot be used throws here, and as the manifest says `policy: true`, nothing runs then.
 *
 * @type {import('hookstack').MiddlewareFactory<import('hookstack').ToolMiddleware>}
 */
export default ({ rules }, { logger }) => {
  const compiled = rules.map((rule) => ({ ...rule, pattern: new RegExp(rule.pattern) }));
  logger.log(`${rules.length} rules`);

  return async function rulesOfTheHouse(call, next) {
    const broken = compiled.find(
      ({ tool, argument, pattern }) =>
        tool === call.toolName && pattern.test(textOf(call.input[argument])),
    );
    if (broken) call.block(broken.reason);
    else await next();
  };
};

/** Arguments come from a model: a rule must not be got around by a list in place of a text. */
function textOf(value) {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
