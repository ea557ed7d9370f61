import type { Approval, ApprovalRequest, Approver } from '../../src/protocol/approval.js';

/** Somebody who always answers like this, and what they were asked. */
export function person(answer: Approval) {
  const asked: ApprovalRequest[] = [];
  const approver: Approver = (request) => {
    asked.push(request);
    return answer;
  };
  return { asked, approver };
}
