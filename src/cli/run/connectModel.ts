import { readRecordedModel } from '../../agent/recordedModel.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { hostEnvironment } from '../../util/requester.js';

/** @throws UsageError when there is neither a key nor a file, the file is not usable, or the SDK is not installed */
export async function connectModel(responses: string | undefined) {
  if (responses !== undefined) {
    const reading = readRecordedModel(responses);
    return (await orUsageError(reading, (detail) => `--responses ${detail}`)).models;
  }
  const apiKey = hostEnvironment()['GEMINI_API_KEY'];
  if (!apiKey) {
    throw new UsageError(
      'There is no model to call: set GEMINI_API_KEY to a key of Google AI Studio, or name a file of recorded calls with --responses',
    );
  }
  const { GoogleGenAI } = await importSdk();
  return new GoogleGenAI({ apiKey, vertexai: false }).models;
}

async function importSdk() {
  try {
    return await import('@google/genai');
  } catch (cause) {
    const isMissing =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw cause;
    throw new UsageError(
      'The Gemini SDK, which calls the model, is not installed: npm install @google/genai, or name a file of recorded calls with --responses',
      { cause },
    );
  }
}
