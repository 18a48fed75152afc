// The conformance suite again; in this lane it includes Redis.
import '../lib/bus.test.ts';
