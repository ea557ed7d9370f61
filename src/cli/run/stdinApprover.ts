import { createInterface } from 'node:readline';
import { BusApprover } from '../../approvals/busApprover.js';
import { InProcessMessageBus } from '../../confirmation-bus/messageBus.js';
import { MessageBusType } from '../../confirmation-bus/types.js';
import type { Approval, Approver } from '../../protocol/approval.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { printJson } from '../shared/terminal.js';
import { standardInput } from '../shared/streams.js';

/**
 * Takes answers from stdin: lines of `{ "type": "approval", "id", "sessionId", "approval" }`. What does not count is
 * said on stdout, and the question stays open. Once stdin has ended, no more answers can come: the rest is denied.
 */
export function stdinApprover(): { readonly approver: Approver; readonly dispose: () => void } {
  const bus = new InProcessMessageBus();
  const { approve } = new BusApprover(bus);
  const ended = new AbortController();
  bus.subscribe(MessageBusType.TOOL_CONFIRMATION_RESULT, (result) => {
    const { correlationId: id, accepted, error } = result;
    printJson({ type: 'approval_result', id, accepted, ...(error && { error }) });
  });
  const lines = createInterface({ input: standardInput() });
  lines.on('line', (line) => takeLine(line, bus));
  lines.on('close', () => ended.abort(new Error('stdin has ended')));
  const approver: Approver = (request, { signal }) =>
    approve(request, { signal: AbortSignal.any([signal, ended.signal]) });
  const dispose = () => {
    lines.close();
    // Else the process would wait for the end of stdin.
    standardInput().destroy();
  };
  return { approver, dispose };
}

function takeLine(line: string, bus: InProcessMessageBus): void {
  try {
    const said = JSON.parse(line) as unknown;
    if (!isRecord(said) || said['type'] !== 'approval') {
      throw new TypeError('expected { "type": "approval", "id", "sessionId", "approval" }');
    }
    bus.publish({
      type: MessageBusType.TOOL_CONFIRMATION_RESPONSE,
      correlationId: said['id'] as string,
      sessionId: said['sessionId'] as string,
      approval: said['approval'] as Approval,
    });
  } catch (error) {
    const message = `a line of stdin cannot be read: ${errorMessage(error)}`;
    printJson({
      type: 'approval_result',
      accepted: false,
      error: { code: 'CONFIRMATION_MALFORMED', message },
    });
  }
}
