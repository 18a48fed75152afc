/**
 * Loaded into every measured process before probe.ts, which would load Node's TypeScript compiler without the cache. The
 * compiler takes 17 MiB, which are no part of the system under test.
 */
import { enableCompileCache } from '../../../services/bootstrap/compile-cache.js';

enableCompileCache();
