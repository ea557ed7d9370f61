/** An observer of hooks that always throws, as one does whose screen is gone. */
export function failingObserver(): never {
  throw new Error('the screen is gone');
}
