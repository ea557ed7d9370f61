import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openApprovalDoor } from '../../src/cli/serve/approvals/approvalDoor.js';
import { rawClient } from '../helpers/fleetQuestions.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';

let nats: TestNats;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.dispose());

const log = () => undefined;

describe('openApprovalDoor', () => {
  it('writes nowhere but where its asker reads', async () => {
    const door = await openApprovalDoor({
      url: nats.url,
      secret: FLEET_SECRETS.policy,
      name: 'test',
      log,
      onWarn: log,
    });
    onTestFinished(() => door.close());
    const thief = await rawClient(nats, 'one', '_INBOX.acme.one');
    onTestFinished(() => thief.close());
    const nothing = JSON.stringify({ takeBack: 'x' });
    // An answer to it is all that this command needs.
    const reply = '$JS.API.STREAM.DELETE.KV_hookstack_approvals';
    thief.publish('hooks.approve.acme.one', nothing, { reply });
    const answer = await thief.request('hooks.approve.acme.one', nothing, { timeout: 4000 });
    expect(answer.json()).toEqual({ hookstack: { version: 1, question: 'x' } });
    const policy = await rawClient(nats, 'policy');
    onTestFinished(() => policy.close());
    const { streams } = await jetstreamManager(policy);
    expect(await streams.names().next()).toEqual(['KV_hookstack_approvals']);
  });
});
