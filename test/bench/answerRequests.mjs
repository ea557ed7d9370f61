/**
 * Answers what the process that has started this one asks, until that ends: the other end of `startProcess`.
 *
 * @param {Record<string, (options: object) => Promise<unknown>>} requests by name
 */
export function answerRequests(requests) {
  process.on('message', ({ id, request, options }) => {
    requests[request](options).then(
      (answer) => process.send({ id, answer }),
      (error) => process.send({ id, error: error.stack }),
    );
  });
  process.on('disconnect', () => process.exit());
  process.send({ id: 'ready' });
}
