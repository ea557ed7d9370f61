import { startRecordedModel } from '../../agent/recordedModel.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { hostEnvironment } from '../../util/requester.js';

/** @throws UsageError when there is neither a key nor a file, the file is not usable, or the SDK is not installed */
export async function connectModel(responses: string | undefined) {
  const recorded =
    responses === undefined
      ? undefined
      : await orUsageError(startRecordedModel(responses), (detail) => `--responses ${detail}`);
  const apiKey = recorded?.apiKey ?? hostEnvironment()['GEMINI_API_KEY'];
  if (!apiKey) {
    throw new UsageError(
      'There is no model to call: set GEMINI_API_KEY to a key of Google AI Studio, or name a file of recorded calls with --responses',
    );
  }
  const { GoogleGenAI } = await importSdk();
  const httpOptions = recorded && { httpOptions: { baseUrl: recorded.baseUrl } };
  const { models } = new GoogleGenAI({ apiKey, vertexai: false, ...httpOptions });
  // Keeps the process alive, which the recorded model does not, and a pending fetch may not.
  const alive = recorded && setInterval(() => undefined, LONGEST_INTERVAL_MS);
  const close = async () => {
    clearInterval(alive);
    await recorded?.close();
  };
  return { models, close };
}

const LONGEST_INTERVAL_MS = 2 ** 31 - 1;

async function importSdk() {
  try {
    return await import('@google/genai');
  } catch (cause) {
    const isMissing =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw cause;
    throw new UsageError(
      'The Gemini SDK, which run needs, is not installed: npm install @google/genai',
      { cause },
    );
  }
}
