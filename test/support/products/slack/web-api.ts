import type { FaultPlan, RequestFault } from '../faults.ts';
import { json, type ProductRequest, type ProductResponse } from '../http-server.ts';
import { CallArguments, type ParsedCall, parseCall } from './arguments.ts';
import { SlackError } from './error.ts';
import type { CallContext, Method, Methods } from './methods/method.ts';
import type { Json } from './objects.ts';
import type { RateLimits } from './rate-limits.ts';
import type { SlackApp, Workspace } from './workspace.ts';

/** A call of the Web API, in the order of arrival. */
export interface CallRecord {
  method: string;
  args: Readonly<Record<string, unknown>>;
  at: Date;
  /** The status of the response, or `cut`. */
  status: number | 'cut';
  /** The error of the response. */
  error?: string;
  fault?: RequestFault['kind'];
}

interface WebApiOptions {
  workspace: Workspace;
  methods: Methods;
  plan: FaultPlan;
  limits: RateLimits | undefined;
  records: CallRecord[];
  context: Pick<CallContext, 'origin' | 'socketUrl' | 'sockets' | 'overrides'>;
}

const APP_SCOPES = 'connections:write';

/** Responds to `POST /api/<method>`. Every response but rate limits and server errors has status 200. */
export function createWebApi({ workspace, methods, plan, limits, records, context }: WebApiOptions) {
  return async (name: string, request: ProductRequest): Promise<ProductResponse> => {
    const call = await readCall(request);
    const record: CallRecord = {
      method: name,
      args: call.args.values,
      at: workspace.clock.now(),
      status: 200,
    };
    records.push(record);
    const retryAfter = limits?.take(name, call.args.text('channel'));
    const fault: RequestFault | undefined =
      retryAfter === undefined
        ? plan.forRequest(name)
        : { kind: 'rate_limited', retryAfterSeconds: retryAfter };
    if (fault) record.fault = fault.kind;
    if (fault?.kind === 'rate_limited') {
      Object.assign(record, { status: 429, error: 'ratelimited' });
      const headers = { 'retry-after': String(fault.retryAfterSeconds) };
      return json({ ok: false, error: 'ratelimited' }, 429, headers);
    }
    if (fault?.kind === 'server_error') {
      record.status = fault.status;
      const headers = { 'content-type': 'text/html' };
      return { status: fault.status, headers, body: '<html><body>Server error</body></html>' };
    }
    const method = methods[name];
    const body = respond(call, method);
    if (!body.ok) record.error = String(body.error);
    if (fault?.kind === 'applied_then_cut') {
      record.status = 'cut';
      return 'cut';
    }
    return json(body, 200, scopeHeaders(workspace.app, method, call));
  };

  function respond(call: ParsedCall & { error?: SlackError }, method: Method | undefined): Json {
    try {
      if (call.error) throw call.error;
      if (!method) throw new SlackError('unknown_method');
      authorize(workspace.app, method, call);
      const all: CallContext = { ...context, workspace, args: call.args };
      const needed = method.scope?.(all);
      if (needed !== undefined && !workspace.app.scopes.has(needed)) {
        const provided = [...workspace.app.scopes].join(',');
        throw new SlackError('missing_scope', { needed, provided });
      }
      return withWarning({ ok: true, ...method.run(all) }, call.warning);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      return withWarning({ ok: false, error: error.code, ...error.members }, call.warning);
    }
  }

  function scopeHeaders(
    app: SlackApp,
    method: Method | undefined,
    { args }: ParsedCall,
  ): Record<string, string> {
    const scopes = method?.token === 'app' ? APP_SCOPES : [...app.scopes].join(',');
    const accepted = method?.token === 'app' ? APP_SCOPES : method?.scope?.({ ...context, workspace, args });
    return {
      'x-oauth-scopes': scopes,
      'x-slack-req-id': workspace.ids.hex(32),
      ...(accepted && { 'x-accepted-oauth-scopes': accepted }),
    };
  }
}

async function readCall(request: ProductRequest): Promise<ParsedCall & { error?: SlackError }> {
  try {
    return await parseCall(request);
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    return { args: new CallArguments({}), token: undefined, error };
  }
}

/** Throws the error of a token that is absent, unknown, revoked or of the wrong type. */
function authorize(app: SlackApp, method: Method, { token }: ParsedCall): void {
  if (!token) throw new SlackError('not_authed');
  if (token !== app.botToken && token !== app.appToken) throw new SlackError('invalid_auth');
  if (token !== (method.token === 'app' ? app.appToken : app.botToken))
    throw new SlackError('not_allowed_token_type');
  if (method.token === 'bot' && app.tokenError) throw new SlackError(app.tokenError);
}

function withWarning(body: Json, warning: string | undefined): Json {
  if (warning === undefined) return body;
  const response_metadata = { ...(body.response_metadata as Json | undefined), warnings: [warning] };
  return { ...body, warning, response_metadata };
}
