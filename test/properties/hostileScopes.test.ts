import { testShapes } from './hostile/hosts.js';
import { SCOPES } from './hostile/worlds.js';

testShapes(SCOPES);
