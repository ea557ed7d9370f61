/**
 * `hookstack/fleet`: makes a host one of many agents with one record.
 *
 * @module
 */
export { joinFleet, type JoinOptions, type Membership } from './fleet/joinFleet.js';
export type { FleetSettings } from './protocol/fleetSettings.js';
