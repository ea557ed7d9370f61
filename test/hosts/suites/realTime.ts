/** The clock before any test sets another one. It has to be kept before the engine is loaded. */
Object.assign(globalThis, {
  realTime: {
    Date,
    performance,
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    setImmediate,
    clearImmediate,
  },
});
