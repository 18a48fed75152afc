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

/** Half of the 569 kB that the document had without shared components. */
const MAX_BYTES = 284_500;

describe('GET /openapi.json', () => {
  it('has no findings of the Redocly ruleset `recommended` except the missing licence', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    const findings = problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
    expect(findings).toEqual([['info-license', 'Info object should contain `license` field.', '#/info']]);
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
