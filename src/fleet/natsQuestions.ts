import type { FleetAddress } from './address.js';
import type { Asking, ServerAnswer } from './question.js';
export async function askOverNats(
  _address: FleetAddress & { kind: 'nats' },
  _asking: Asking,
): Promise<ServerAnswer> {
  throw new Error('not there yet');
}
