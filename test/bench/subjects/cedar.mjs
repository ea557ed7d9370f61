import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs';

const POLICIES = 'bench';
const AGENT = { type: 'Agent', id: 'bench' };
const PROJECT = { type: 'Project', id: 'bench' };

/**
 * The engine of Cedar, which is asked before a tool whether the agent may call it: policies are read once, as rules are.
 *
 * @param {object} options
 * @param {string} options.policies in Cedar
 * @returns {Promise<import('./hookstack.mjs').Subject>} `fireBeforeToolEvent` only
 */
export async function openSubject({ policies }) {
  const read = preparsePolicySet(POLICIES, { staticPolicies: policies });
  if (read.type !== 'success') throw new Error(JSON.stringify(read.errors));
  return { handler: { fireBeforeToolEvent: ask } };
}

async function ask(toolName, context) {
  const answer = statefulIsAuthorized({
    principal: AGENT,
    action: { type: 'Action', id: toolName },
    resource: PROJECT,
    context,
    entities: [],
    preparsedPolicySetId: POLICIES,
  });
  if (answer.type !== 'success') throw new Error(JSON.stringify(answer.errors));
  const { decision, diagnostics } = answer.response;
  return {
    success: true,
    allOutputs: decision === 'deny' ? [{ decision }] : [],
    errors: diagnostics.errors,
  };
}
