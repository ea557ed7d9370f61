/** An observer of hooks that always throws, as one does whose screen is gone. */
export function failingObserver(): never {
  throw new Error('the screen is gone');
}

/** One that does so later. */
export function rejectingObserver(): never {
  return Promise.reject(new Error('the screen is gone')) as never;
}
