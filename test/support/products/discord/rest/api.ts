import type { FaultPlan } from '../../faults.ts';
import { json, type ProductRequest, type ProductResponse } from '../../http-server.ts';
import { DiscordError, notFound, unauthorized } from '../errors.ts';
import type { Interactions } from '../interactions.ts';
import type { DiscordState } from '../state.ts';
import { APPLICATION_ROUTES } from './application-routes.ts';
import type { Route } from './call.ts';
import { CHANNEL_ROUTES } from './channel-routes.ts';
import { INTERACTION_ROUTES } from './interaction-routes.ts';
import type { RateLimitState, RateLimits } from './rate-limits.ts';

export interface DiscordRequest {
  /** The method and the path of the route, such as `POST /channels/:channel/messages`, or the path of an unknown one. */
  route: string;
  path: string;
  body: string;
  headers: ProductRequest['headers'];
  /** The status of the response, or `cut` if the connection ended without one. */
  status: number | 'cut' | undefined;
  /** The code of a refusal. */
  code?: number;
}

export interface DiscordApiParts {
  state: DiscordState;
  interactions: Interactions;
  faults: FaultPlan;
  limits: RateLimits;
  requests: DiscordRequest[];
  gatewayUrl(): string;
}

type JsonResponse = Exclude<ProductResponse, 'cut'>;

const ROUTES: Route[] = [...CHANNEL_ROUTES, ...APPLICATION_ROUTES, ...INTERACTION_ROUTES];
/** Each part of a limit's key, as in the documentation of limits. */
const MAJOR_PARTS = ['channel', 'guild', 'application'];

/** Answers `/api/v10/…`. */
export function createDiscordApi(
  parts: DiscordApiParts,
): (request: ProductRequest) => Promise<ProductResponse> {
  const { state, interactions, faults, limits, requests, gatewayUrl } = parts;

  async function execute(
    request: ProductRequest,
    route: Route,
    names: Record<string, string>,
    name: string,
  ): Promise<JsonResponse> {
    const token = /^Bot (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const application = state.applications.find((one) => one.token === token);
    const [owner] = state.applications;
    if (!owner || (!application && !route.isOpen)) throw unauthorized();
    const major = MAJOR_PARTS.flatMap((part) => names[part] ?? []).join(' ');
    const limit = application && !route.isOpen ? limits.count(application.id, name, major) : { headers: {} };
    if (limit.refusal) return tooManyRequests(limit);
    const part = (key: string) => decodeURIComponent(names[key] ?? '');
    const call = { state, interactions, application: application ?? owner, request, part, gatewayUrl };
    try {
      const result = await route.run(call);
      return result === undefined
        ? { status: 204, headers: limit.headers }
        : (json(result, 200, limit.headers) as JsonResponse);
    } catch (error) {
      if (!(error instanceof DiscordError)) throw error;
      return refusal(error, limit.headers);
    }
  }

  return async (request) => {
    const [, version, path = ''] = /^\/api\/v(\d+)(\/.*)$/.exec(request.path) ?? [];
    const found = ROUTES.flatMap((route) => {
      const names = route.method === request.method ? match(route.path, path) : undefined;
      return names ? [{ route, names }] : [];
    })[0];
    const name = `${request.method} ${found?.route.path ?? path}`;
    const record: DiscordRequest = {
      ...{ route: name, path, body: request.body.toString('latin1'), headers: request.headers },
      status: undefined,
    };
    requests.push(record);
    const fault = found && faults.forRequest(name);
    let response: JsonResponse;
    try {
      if (version !== undefined && version !== '10')
        throw new DiscordError(400, 50041, 'Invalid API version provided.');
      if (!found) throw notFound();
      if (fault?.kind === 'rate_limited')
        response = tooManyRequests(limits.refuse(name, fault.retryAfterSeconds));
      else if (fault?.kind === 'server_error') response = { status: fault.status, body: 'upstream error' };
      else response = await execute(request, found.route, found.names, name);
    } catch (error) {
      if (!(error instanceof DiscordError)) throw error;
      response = refusal(error, {});
    }
    const code = response.status >= 400 && /^\{.*"code":(\d+)/s.exec(String(response.body))?.[1];
    if (code) record.code = Number(code);
    record.status = fault?.kind === 'applied_then_cut' ? 'cut' : response.status;
    return record.status === 'cut' ? 'cut' : response;
  };
}

function refusal(
  { status, code, message, errors }: DiscordError,
  headers: Record<string, string>,
): JsonResponse {
  return json({ message, code, ...(errors && { errors }) }, status, headers) as JsonResponse;
}

function tooManyRequests({ headers, refusal: refused }: RateLimitState): JsonResponse {
  const body = { message: refused?.message, retry_after: refused?.retryAfter, global: refused?.isGlobal };
  return json(body, 429, headers) as JsonResponse;
}

/** Returns the named parts of a path, or undefined if it does not match. */
function match(pattern: string, path: string): Record<string, string> | undefined {
  const [expected, given] = [pattern.split('/'), path.split('/')];
  if (expected.length !== given.length) return undefined;
  const names: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) names[part.slice(1)] = value;
    else if (part !== value) return undefined;
  }
  return names;
}
