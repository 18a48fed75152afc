import { describe, expect, it } from 'vitest';
import { renderOpenApi } from '../../edge/openapi/document.ts';
import { renderGuide } from '../../edge/openapi/guide.ts';
import { API_PREFIX } from '../../edge/register-route.ts';
import { isRaw } from '../../edge/route.ts';
import { ROUTES } from '../../edge/routes.ts';
import { servedRoutes } from '../../scripts/reference/access.ts';
import { type Document, operationsOf } from './document.ts';

const PROBES = ['/livez', '/readyz', '/healthz', '/metrics'];
const ORIGIN = 'http://127.0.0.1:8080';

const declared = ROUTES.map((route) => {
  const prefix = isRaw(route) && route.atRoot ? '' : API_PREFIX;
  return `${route.method} ${prefix}${route.path} ${route.operationId}`;
}).sort();

describe('ROUTES', () => {
  it('contains every registered API route and probe, each declared with route()', async () => {
    const registered = (await servedRoutes())
      .filter(({ method }) => method !== 'HEAD')
      .filter(({ path }) => /^\/(api|\.well-known)\//.test(path) || PROBES.includes(path))
      .map(({ method, path, operationId }) => `${method} ${path} ${operationId}`)
      .sort();
    expect(registered).toEqual(declared);
  });

  it('contains every operation of the OpenAPI document', () => {
    const described = operationsOf(renderOpenApi(ORIGIN) as Document)
      .map(({ method, path, operationId }) => `${method} ${path} ${operationId}`)
      .sort();
    expect(described).toEqual(declared);
  });
});

describe('the API introduction', () => {
  const WAYS = [
    '/agents/{agent_id}/conversations',
    '/assistants/{assistant_id}/conversations',
    '/sessions/{session_id}/fork',
    '/deployments/{deployment_id}/trigger',
  ];
  const { info } = renderOpenApi(ORIGIN) as { info: { description: string } };

  it.each(WAYS)('of the OpenAPI document names POST %s as a way to create a session', (path) => {
    expect(info.description).toContain(`POST ${path}`);
  });

  it.each(WAYS)('of the guide for language models names POST %s as a way to create a session', (path) => {
    const section = renderGuide(ORIGIN).split('## Ways to create a session')[1] ?? '';
    expect(section.split('\n## ')[0]).toContain(`POST ${API_PREFIX}${path}`);
  });

  it('describes a fork as a conversation of the same agent that begins with existing history', () => {
    expect(info.description).toMatch(/fork.*conversation of the same agent.*with existing history/);
    expect(renderGuide(ORIGIN)).toMatch(
      /fork.*conversation of the same agent that begins with existing history/,
    );
  });
});
