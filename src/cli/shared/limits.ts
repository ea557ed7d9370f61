/** Ms that agents wait for a hook, as `install` says. Then they go on, and take that for a yes. */
const AGENT_MS = 600_000;

/** Ms that this one waits, where its user says less. More would be a way past guards. */
const said = Math.floor(Number(process.env['HOOKSTACK_TIMEOUT'] ?? AGENT_MS));
const waits = said > 0 && said < AGENT_MS ? said : AGENT_MS;

/** In ms. */
export const LIMITS = {
  /** For hooks. They are given some more to end. */
  hooks: waits - Math.min(10_000, Math.ceil(waits / 3)),
  /** For everything, as middleware may not heed that. */
  all: waits - Math.min(3000, Math.ceil(waits / 5)),
  /** For a main thread that does not come back to its timers. */
  blocked: waits - Math.min(1500, Math.ceil(waits / 10)),
};
