// The same as answer.mjs, with `defineHook`, which keeps the process where the settings say so. $1 is the event, and $2
// where `defineHook` is, if not in the build of this checkout.
const [event, author = '../../../dist/author.js'] = process.argv.slice(2);
const { defineHook } = await import(author);

await defineHook(event, () => ({ decision: 'allow', reason: 'hook 1' }));
