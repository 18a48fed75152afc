import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { describe, expect, it } from 'vitest';
import { renderOpenApi } from '../../edge/openapi/document.ts';

const document = renderOpenApi('http://127.0.0.1:8080') as {
  tags: { description?: string }[];
  components: { parameters: Record<string, { description?: string }> };
  paths: Record<string, Record<string, { parameters: ({ $ref: string } | { description?: string })[] }>>;
};
const text = JSON.stringify(document);

/** About half of the 569 kB that the document had without shared components. */
const MAX_BYTES_WITHOUT_VAULTS = 285_000;
/** The body with overrides of `POST …/regenerate`. */
const MAX_BYTES_OF_REGENERATED_ANSWERS = 900;
/** The 17 operations on vaults and their five types of credentials: 2.4 kB for each operation. */
const MAX_BYTES_OF_VAULTS = 41_000;
/** The 12 operations on MCP servers, their catalogues and extensions: 2.8 kB for each operation. */
const MAX_BYTES_OF_MCP_SERVERS = 35_200;
/** The forms, links and decisions of approvals of the kinds `authorization` and `input`. */
const MAX_BYTES_OF_REQUESTED_INPUT = 1_700;
/** The 11 operations on skills and the extensions of sessions: 2.4 kB for each operation. */
const MAX_BYTES_OF_SKILLS = 28_000;
/** The variables in the extensions of sessions, whether they are known, and the audit action and hosts of their credentials. */
const MAX_BYTES_OF_VARIABLES = 1_300;
/** The 6 operations on connections, the OAuth settings of MCP servers and the OAuth credentials. */
const MAX_BYTES_OF_OAUTH = 21_000;
/** The 11 operations on schedules, their runs and backfills, and two types of deployments: 3.5 kB for each operation. */
const MAX_BYTES_OF_SCHEDULES = 39_000;
/** The senders of messages of channels, and the accounts of decisions. */
const MAX_BYTES_OF_MESSAGE_SENDERS = 900;
/** The 14 operations on channels, their settings, the requests of products, and senders of messages: 3.5 kB for each operation. */
const MAX_BYTES_OF_CHANNELS = 49_000;
/** The exposure of agents to protocols, in creations, changes and responses. */
const MAX_BYTES_OF_EXPOSURE = 1_700;
/** The endpoints of the Model Context Protocol, with errors in the form of JSON-RPC. */
const MAX_BYTES_OF_MCP = 16_000;
/** The endpoints of the OpenAI-compatible API, with errors in its form. */
const MAX_BYTES_OF_OPENAI = 40_000;
/** The settings of compactions, in creations, changes and responses, and their event. */
const MAX_BYTES_OF_COMPACTIONS = 4_400;
/** Cached, cache-written, reasoning and estimated tokens, in the usage of events, turns and sessions. */
const MAX_BYTES_OF_TOKEN_DETAILS = 1_600;
/** The endpoints of A2A, with errors in its form. */
const MAX_BYTES_OF_A2A = 16_000;
/** The turns, events and messages of steering. */
const MAX_BYTES_OF_STEERING = 2_700;
/** The context of sessions, its compaction on demand, and the kind of turns. */
const MAX_BYTES_OF_CONTEXTS = 6_500;
const MAX_BYTES =
  MAX_BYTES_OF_CONTEXTS +
  MAX_BYTES_WITHOUT_VAULTS +
  MAX_BYTES_OF_REGENERATED_ANSWERS +
  MAX_BYTES_OF_VAULTS +
  MAX_BYTES_OF_MCP_SERVERS +
  MAX_BYTES_OF_OAUTH +
  MAX_BYTES_OF_SCHEDULES +
  MAX_BYTES_OF_CHANNELS +
  MAX_BYTES_OF_MCP +
  MAX_BYTES_OF_OPENAI +
  MAX_BYTES_OF_A2A +
  MAX_BYTES_OF_EXPOSURE +
  MAX_BYTES_OF_COMPACTIONS +
  MAX_BYTES_OF_STEERING +
  MAX_BYTES_OF_MESSAGE_SENDERS +
  MAX_BYTES_OF_REQUESTED_INPUT +
  MAX_BYTES_OF_SKILLS +
  MAX_BYTES_OF_VARIABLES +
  MAX_BYTES_OF_TOKEN_DETAILS;

describe('GET /openapi.json', () => {
  it('has no findings of the Redocly ruleset `recommended` except the missing licence and one pair of paths', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    const findings = problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
    expect(findings).toEqual([
      ['info-license', 'Info object should contain `license` field.', '#/info'],
      // No path matches both, because neither `rotations` nor `credentials` is an id.
      [
        'no-ambiguous-paths',
        'Paths should resolve unambiguously. Found two ambiguous paths: `/admin/vaults/{vault_id}/credentials` and `/admin/vaults/rotations/{rotation_id}`.',
        '#/paths/~1admin~1vaults~1rotations~1{rotation_id}',
      ],
    ]);
  });

  it('has no findings of the Spectral ruleset `oas`', async () => {
    const linter = new spectral.Spectral();
    linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] });
    const findings = await linter.run(text);
    expect(findings.map(({ code, message, path }) => [code, message, path.join('/')])).toEqual([]);
  });

  it('describes every tag and every parameter', () => {
    const operations = Object.values(document.paths).flatMap(({ servers: _, ...methods }) =>
      Object.values(methods),
    );
    const inline = operations.flatMap(({ parameters }) => parameters.filter((one) => !('$ref' in one)));
    const described = [...document.tags, ...Object.values(document.components.parameters), ...inline];
    expect(described.filter((one) => !('description' in one && one.description))).toEqual([]);
  });

  it(`has at most ${MAX_BYTES} bytes`, () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
  });
});
