// The conformance suite again; in this lane it includes Redis.
import '../lib/rate-limiter.test.ts';
