import type { Observation } from '../../lib/grpc/transport.ts';
import { LabelSets, OTHER } from '../../lib/label-sets.ts';
import type { Log } from '../../lib/log.ts';
import { type Metrics, SECONDS } from '../../lib/metrics.ts';
import type { Place } from '../../proto/gen/ahs/files/v1/files.ts';

/** Methods, combinations of method and error code, and error codes of later combinations with series of their own. */
const MAX_METHODS = 100;
const MAX_ERRORS = 20;
const MAX_CODES = 8;

/** Failures that an operator can end. */
const WARNED: ReadonlySet<string> = new Set(['DEPENDENCY_UNAVAILABLE', 'STORAGE_FULL', 'VAULT_SEALED']);

/** Measures every call between services and logs failed calls that an operator must know about. */
export function createRpcObserver(metrics: Metrics, log: Log) {
  const durations = metrics.distribution({
    name: 'ahs_rpc_duration_seconds',
    help: 'Duration of calls between services by method and result code.',
    labels: ['service', 'method', 'code'],
    detail: 'rpcs',
    buckets: SECONDS,
  });
  const methods = new LabelSets(MAX_METHODS);
  const errors = new LabelSets(MAX_ERRORS);
  const codes = new LabelSets(MAX_CODES);
  const ofCode = (code: string) => codes.choose([OTHER, OTHER, code], () => [OTHER, OTHER, OTHER]);
  const labelsOf = ({ service, method, code }: Observation) =>
    (code === 'OK' ? methods : errors).choose([service, method, code], () => ofCode(code));

  return (observation: Observation): void => {
    const { code, durationMs } = observation;
    durations.labels(...labelsOf(observation)).observe(durationMs / 1_000);
    if (code === 'INTERNAL') log.error(factsOf(observation), 'a call failed unexpectedly');
    else if (WARNED.has(code)) log.warn(factsOf(observation), 'a call failed');
    else if (log.isLevelEnabled('debug')) log.debug(factsOf(observation), 'a call ended');
  };
}

function factsOf({ request, caller, durationMs, requestId, traceId, spanId, ...facts }: Observation) {
  const { service, method, code, peer, cause } = facts;
  return {
    service,
    method,
    code,
    duration_ms: Math.round(durationMs * 100) / 100,
    peer,
    request_id: requestId,
    trace_id: traceId,
    span_id: spanId,
    ...idsIn(request),
    user_id: caller?.userId,
    err: cause,
  };
}

const IDS = {
  sessionId: 'session_id',
  turnId: 'turn_id',
  agentId: 'agent_id',
  assistantId: 'assistant_id',
  deploymentId: 'deployment_id',
  environmentId: 'environment_id',
  sandboxId: 'sandbox_id',
};

/** Returns the ids in a request. */
function idsIn(request: unknown): Record<string, unknown> {
  if (typeof request !== 'object' || request === null) return {};
  const members: Record<string, unknown> = { ...request, ...('place' in request ? idIn(request.place) : {}) };
  const found = Object.entries(IDS).filter(([member]) => members[member]);
  return Object.fromEntries(found.map(([member, name]) => [name, members[member]]));
}

/** Returns the session or assistant id of a workspace. */
function idIn(place: unknown): Record<string, unknown> {
  const { of } = (place ?? {}) as Partial<Place>;
  return of ? { [of.$case]: of.value } : {};
}
