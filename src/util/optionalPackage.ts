import { errorCode, errorMessage } from './errorMessage.js';

/**
 * Loads a package that need not be installed, and that the bundlers of hosts do not look for.
 *
 * @param name as in an import
 * @param need the begin of a sentence: who needs it
 * @param installed name and version as npm takes them, where any version would not do
 * @throws Error that says what to install
 */
export async function loadOptional<T>(name: string, need: string, installed = name): Promise<T> {
  try {
    return (await import(name)) as T;
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `${need} the package "${name}", which is not installed: npm install ${isGlobal(error) ? '-g ' : ''}${installed}`,
      { cause: error },
    );
  }
}

/** Whether hookstack is where `npm install -g` puts it: packages of the current directory are not found from there. */
function isGlobal(error: unknown): boolean {
  return /imported from .*[\\/](lib|npm)[\\/]node_modules[\\/]hookstack[\\/]/.test(
    errorMessage(error),
  );
}
