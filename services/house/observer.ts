import type { Observation } from '../../lib/grpc/transport.ts';
import type { Log } from '../../lib/log.ts';
import { type Metrics, SECONDS } from '../../lib/metrics.ts';
import type { Place } from '../../proto/gen/ahs/files/v1/files.ts';

/** Times every call between services, and writes down those of which an operator must know. */
export function createObserver(metrics: Metrics, log: Log) {
  const durations = metrics.histogram({
    name: 'ahs_rpc_duration_seconds',
    help: 'Calls between services, by how they ended.',
    labels: ['service', 'method', 'code'],
    buckets: SECONDS,
  });

  return (observation: Observation): void => {
    const { service, method, code, durationMs } = observation;
    durations.labels(service, method, code).observe(durationMs / 1_000);
    if (code === 'INTERNAL') log.error(factsOf(observation), 'a call failed unexpectedly');
    else if (code === 'DEPENDENCY_UNAVAILABLE' || code === 'STORAGE_FULL')
      log.warn(factsOf(observation), 'a call failed');
    else if (log.isLevelEnabled('debug')) log.debug(factsOf(observation), 'a call');
  };
}

function factsOf({ request, caller, durationMs, requestId, traceId, ...facts }: Observation) {
  const { service, method, code, peer, cause } = facts;
  return {
    service,
    method,
    code,
    duration_ms: Math.round(durationMs * 100) / 100,
    peer,
    request_id: requestId,
    trace_id: traceId,
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

/** What a request is about. */
function idsIn(request: unknown): Record<string, unknown> {
  if (typeof request !== 'object' || request === null) return {};
  const members: Record<string, unknown> = { ...request, ...('place' in request ? idIn(request.place) : {}) };
  const found = Object.entries(IDS).filter(([member]) => members[member]);
  return Object.fromEntries(found.map(([member, name]) => [name, members[member]]));
}

/** A place of files is that of a session or of an assistant. */
function idIn(place: unknown): Record<string, unknown> {
  const { of } = (place ?? {}) as Partial<Place>;
  return of ? { [of.$case]: of.value } : {};
}
