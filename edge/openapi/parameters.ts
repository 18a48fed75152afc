import type { TSchema } from 'typebox';
import type { RequestHeader } from '../input/headers.ts';
import type { Route } from '../route.ts';
import { type Components, collect, share } from './components.ts';

const HEADER_TEXTS: Record<RequestHeader, string> = {
  'Idempotency-Key':
    'Makes a retry safe: a repeated request with the same key returns the first response again, for 24 hours. 1–255 visible ' +
    'ASCII characters.',
  'If-Match':
    'One or more entity tags, for example `"3"`, or `*`. The request fails with VERSION_CONFLICT unless one of them is the ' +
    'current ETag. Weak tags never match.',
  'If-None-Match':
    'One or more entity tags, or `*`. If one of them is the current ETag, the response to GET is 304 without a body. An ' +
    'upload accepts only `*`, which requires that the file does not exist.',
  'If-Range':
    'The ETag of the content that the range belongs to. If the content has changed, the complete file is returned.',
  'Last-Event-ID': 'The id of the last received event. The stream continues after it.',
  'x-ahs-ai-sdk':
    'The major version of AI SDK in the client: 6 or 7 (default). The query parameter `ai_sdk` takes precedence.',
  Range: 'One byte range, for example `bytes=0-1023`. Several ranges return the complete file.',
};

/** The parameters of paths. A route with another parameter needs a row here. */
const PATH_TEXTS: Record<string, string> = {
  agent_id: 'The id of the agent (`agt_…`).',
  approval_id: 'The id of the approval (`apr_…`).',
  assistant_id: 'The id of the assistant (`ast_…`).',
  backfill_id: 'The id of the backfill (`bkf_…`).',
  chat_id: 'The chat id of AI SDK, which can be any text.',
  code: 'The code of the link.',
  connection_id: 'The id of the connection (`crd_…`).',
  credential_id: 'The id of the credential (`crd_…`).',
  deployment_id: 'The id of the deployment (`dep_…`).',
  environment_id: 'The id of the environment (`env_…`).',
  post_id: 'The id of the post (`pst_…`).',
  rotation_id: 'The id of the rotation (`rot_…`).',
  link_id: 'The id of the link (`lnk_…`).',
  mcp_server_id: 'The id of the MCP server (`mcp_…`).',
  model: 'The agent id, or the model id of the agent.',
  response_id: 'The id of the response (`resp_…`).',
  run_id: 'The id of the run (`run_…`).',
  sandbox_id: 'The id of the sandbox (`sbx_…`).',
  session_id: 'The id of the session (`ses_…`).',
  sha256: 'The SHA-256 of the part in lowercase hexadecimal.',
  skill_id: 'The id of the skill (`skl_…`).',
  token_id: 'The id of the token (`tok_…`).',
  turn_id: 'The id of the turn (`trn_…`).',
  user_id: 'The id of the user (`usr_…`).',
  vault_id: 'The id of the vault (`vlt_…`).',
  version: 'The number of the version.',
};

export function pathParameters(path: string, components: Components): object[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => {
    const description = PATH_TEXTS[name];
    if (!description) throw new Error(`edge/openapi/parameters.ts has no description of {${name}}.`);
    const parameter = { name, in: 'path', required: true, description, schema: { type: 'string' } };
    return share(components, 'parameters', componentName(name), parameter);
  });
}

export function headerParameters(headers: readonly RequestHeader[], components: Components): object[] {
  return headers.map((name) => {
    const parameter = { name, in: 'header', description: HEADER_TEXTS[name], schema: { type: 'string' } };
    return share(components, 'parameters', componentName(name), parameter);
  });
}

interface QueryParameter {
  name: string;
  in: 'query';
  required?: true;
  description: string;
  allowEmptyValue?: boolean;
  schema: object;
}

/** `allowEmptyValue` is an OpenAPI keyword of the parameter, not of its JSON Schema. */
interface QuerySchema {
  description?: string;
  allowEmptyValue?: boolean;
  type?: string;
}

export function queryParameters(query: Route['query'], components: Components): QueryParameter[] {
  const required = new Set(query?.required ?? []);
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => {
    const { description, allowEmptyValue, ...shape } = collect(schema, components) as QuerySchema;
    if (!description) throw new Error(`The query parameter ${name} has no description.`);
    return {
      name,
      in: 'query',
      ...(required.has(name) && { required: true }),
      description,
      ...(allowEmptyValue && { allowEmptyValue }),
      ...(shape.type === 'object' && { style: 'deepObject', explode: true }),
      schema: shape,
    };
  });
}

/**
 * Moves the query parameters that several operations have in common to the components. When parameters with the same name
 * differ, only the most frequent one moves.
 */
export function shareQueryParameters(operations: readonly object[], components: Components): void {
  const uses = Map.groupBy(operations.flatMap(queryParametersOf), ({ parameter }) =>
    JSON.stringify(parameter),
  );
  const shared = [...uses.values()].filter((same) => same.length > 1).sort((a, b) => b.length - a.length);
  for (const same of shared) {
    const { parameter } = same[0] as QueryParameterUse;
    const name = componentName(parameter.name);
    if (name in components.parameters) continue;
    const reference = share(components, 'parameters', name, parameter);
    for (const { list, index } of same) list[index] = reference;
  }
}

interface QueryParameterUse {
  parameter: QueryParameter;
  list: object[];
  index: number;
}

function queryParametersOf(operation: object): QueryParameterUse[] {
  const { parameters } = operation as { parameters: (object | QueryParameter)[] };
  return parameters.flatMap((parameter, index) =>
    'in' in parameter && parameter.in === 'query' ? [{ parameter, list: parameters, index }] : [],
  );
}

/** `session_id` becomes `SessionId`, `Last-Event-ID` becomes `LastEventID`. */
const componentName = (name: string) =>
  name.replace(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
