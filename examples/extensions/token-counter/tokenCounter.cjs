// Looks on, and changes nothing. CommonJS, to show that it may be.

const { appendFile, mkdir } = require('node:fs/promises');
const path = require('node:path');

/** @type {import('hookstack').MiddlewareFactory<import('hookstack').ModelMiddleware>} */
module.exports = ({ file }, { logger, workingDir }) => {
  return async function countTokens(call, next) {
    await next();
    if (call.stream) call.stream = counted(call);
  };

  async function* counted({ stream, request }) {
    let usage = {};
    for await (const chunk of stream) {
      // Each chunk that has counts has those up to there.
      usage = chunk.usageMetadata ?? usage;
      yield chunk;
    }
    await write(path.join(workingDir, file), {
      model: request.model,
      prompt: usage.promptTokenCount ?? 0,
      answer: usage.candidatesTokenCount ?? 0,
      total: usage.totalTokenCount ?? 0,
    });
  }

  /** The stream is read after the middleware has returned: what is thrown here would end the answer. */
  async function write(target, line) {
    try {
      await mkdir(path.dirname(target), { recursive: true });
      await appendFile(target, `${JSON.stringify(line)}\n`);
    } catch (error) {
      logger.warn(`The tokens of a call are not counted: ${error.message}`);
    }
  }
};
