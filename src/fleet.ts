/**
 * `hookstack/fleet`: makes a host one of many agents with one record, whose questions the same people answer.
 *
 * @module
 */
export { fleetApprover } from './fleet/fleetApprover.js';
export { joinFleet, type JoinOptions, type Membership } from './fleet/joinFleet.js';
export type { FleetSettings } from './fleet/fleetSettings.js';
