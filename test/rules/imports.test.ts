import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Inspection, inspect, isSound, ruleNames } from '../../scripts/imports.ts';

/** For each rule: the violating file and its import (type-only by default). */
const VIOLATIONS: Record<string, [file: string, imports: string, keyword?: 'import'][]> = {
  'lib-is-acyclic': [
    ['lib/chicken.ts', './egg.ts'],
    ['lib/egg.ts', './chicken.ts'],
  ],
  'lib-imports-no-service': [['lib/greedy.ts', '../services/alpha/config.ts']],
  'lib-imports-no-service-contract': [['lib/grpc/knowing.ts', '../../proto/gen/ahs/alpha/v1/alpha.ts']],
  'only-lib-grpc-imports-shared-contracts': [
    ['lib/refusal.ts', '../proto/gen/ahs/common/v1/common.ts'],
    ['lib/frames.ts', '../proto/gen/ahs/calls/v1/calls.ts'],
  ],
  'contracts-import-no-product-code': [['proto/gen/ahs/beta/v1/beta.ts', '../../../../../lib/errors.ts']],
  'domain-is-pure': [
    ['services/wall/domain.ts', '../../lib/clock.ts'],
    ['services/disk/domain.ts', 'node:fs'],
    ['services/wire/domain/shape.ts', '../../../proto/gen/ahs/alpha/v1/alpha.ts'],
    ['services/row/domain/row.ts', '../store.ts'],
  ],
  'only-stores-import-lib-db': [
    ['services/alpha/shortcut.ts', '../../lib/db/database.ts'],
    ['services/alpha/handlers/shortcut.ts', '../../../lib/db/database.ts'],
  ],
  'store-imports-only-database-code': [
    ['services/wire/store.ts', '../../proto/gen/ahs/alpha/v1/alpha.ts'],
    ['services/disk/store/disk.ts', 'node:fs'],
    ['services/call/store/call.ts', '../handlers.ts'],
    ['services/call/store/tuned.ts', '../config.ts'],
    ['services/call/store/shared.ts', '../../../lib/bus/redis.ts'],
  ],
  'handlers-import-only-allowed-modules': [['services/wall/handlers.ts', '../../lib/env.ts']],
  'no-service-imports-another': [
    ['services/alpha/neighbour.ts', '../call/handlers.ts'],
    ['services/alpha/upstairs.ts', '../bootstrap/open.ts'],
    ['services/alpha/everyone.ts', '../main.ts'],
  ],
  'no-service-imports-the-edge': [['services/alpha/outside.ts', '../../edge/server.ts']],
  'no-circular-imports': [
    ['services/alpha/hen.ts', './chick.ts'],
    ['services/alpha/chick.ts', './hen.ts'],
  ],
  'runner-has-only-its-listed-components': [['services/runner/helpers/text.ts', '../tool-calls/call.ts']],
  'runner-config-imports-only-lower-components': [['services/runner/config.ts', './service.ts']],
  'runner-loop-imports-only-lower-components': [['services/runner/loop/settings.ts', '../service.ts']],
  'runner-context-imports-only-lower-components': [['services/runner/context/window.ts', '../loop/turn.ts']],
  'runner-queue-imports-only-lower-components': [['services/runner/queue/outcome.ts', '../loop/turn.ts']],
  'runner-tools-imports-only-lower-components': [['services/runner/tools/report.ts', '../queue/claim.ts']],
  'runner-sandbox-pool-imports-only-lower-components': [
    ['services/runner/sandbox-pool/command.ts', '../tools/bash.ts'],
  ],
  'runner-credentials-imports-only-lower-components': [
    ['services/runner/credentials/lent.ts', '../sandbox-pool/pool.ts'],
  ],
  'runner-workspace-imports-only-lower-components': [
    ['services/runner/workspace/copy.ts', '../sandbox-pool/pool.ts'],
    ['services/runner/workspace/pause.ts', '../queue/claim.ts'],
  ],
  'runner-parts-imports-only-lower-components': [['services/runner/parts/part.ts', '../loop/turn.ts']],
  'runner-models-imports-only-lower-components': [['services/runner/models/keys.ts', '../service.ts']],
  'runner-sandbox-providers-imports-only-lower-components': [
    ['services/runner/sandbox-providers/open.ts', '../sandbox-pool/pool.ts'],
  ],
  'runner-sandbox-imports-only-lower-components': [
    ['services/runner/sandbox/open.ts', '../sandbox-providers/provider.ts'],
  ],
  'runner-network-imports-only-lower-components': [
    ['services/runner/network/intercept/proxy.ts', '../../loop/turn.ts'],
  ],
  'runner-kernel-imports-only-lower-components': [
    ['services/runner/kernel/cgroup.ts', '../sandbox-providers/provider.ts'],
  ],
  'runner-tool-calls-imports-only-lower-components': [
    ['services/runner/tool-calls/result.ts', '../tools/bash.ts'],
  ],
  'edge-imports-no-database': [
    ['edge/routes/rows.ts', '../../lib/db/database.ts'],
    ['edge/routes/bytes.ts', '../../lib/blobs/blobs.ts'],
  ],
  'edge-imports-no-service': [['edge/routes/inside.ts', '../../services/alpha/config.ts']],
  'only-edge-imports-fastify': [
    ['services/alpha/http.ts', 'fastify'],
    ['lib/http.ts', '@fastify/helmet'],
  ],
  'console-imports-only-the-generated-client': [
    ['console/api/codes.ts', '../../lib/errors.ts'],
    ['console/parts/shapes.tsx', '../../proto/gen/ahs/alpha/v1/alpha.ts'],
    ['console/pages/agents/inside.tsx', '../../../edge/server.ts'],
  ],
  'only-console-imports-console': [['edge/routes/pages.ts', '../../console/api/agents.ts']],
  'console-imports-no-node-modules': [['console/parts/disk.ts', 'node:fs']],
  'console-gen-imports-nothing': [['console/gen/knowing.ts', '../api/agents.ts']],
  'console-api-imports-only-the-client': [
    ['console/api/shown.ts', '../ui/button.tsx'],
    ['console/api/common.ts', '../parts/list.tsx'],
  ],
  'console-journal-imports-no-component': [
    ['console/journal/shown.tsx', '../ui/button.tsx'],
    ['console/journal/page.ts', '../pages/sessions/page.tsx'],
  ],
  'console-ui-imports-no-data-or-pages': [
    ['console/ui/agent.tsx', '../api/agents.ts'],
    ['console/ui/record.tsx', '../gen/client.ts'],
    ['console/ui/common.tsx', '../parts/list.tsx'],
  ],
  'console-ui-imports-three-packages': [['console/ui/query.tsx', '@tanstack/react-query']],
  'console-parts-import-no-page': [
    ['console/parts/page.tsx', '../pages/sessions/page.tsx'],
    ['console/parts/way.ts', '../app/router.tsx'],
  ],
  'console-pages-import-no-app-code': [['console/pages/agents/way.tsx', '../../app/router.tsx']],
  'console-pages-import-no-other-page': [['console/pages/agents/other.tsx', '../sessions/page.tsx']],
  'only-lib-db-imports-postgres': [['services/alpha/pool.ts', 'pg']],
  'only-lib-bus-imports-redis': [['edge/limits.ts', 'redis']],
  'only-lib-blobs-imports-s3': [['services/alpha/bucket.ts', 'minio']],
  'only-lib-grpc-imports-grpc': [
    ['edge/clients.ts', 'nice-grpc-common'],
    ['services/alpha/channel.ts', '@grpc/grpc-js'],
  ],
  'only-lib-telemetry-imports-opentelemetry': [['services/alpha/spans.ts', '@opentelemetry/api']],
  'only-lib-outbound-imports-undici': [
    ['services/alpha/remote.ts', 'undici'],
    ['edge/remote.ts', 'undici'],
  ],
  'only-the-interceptor-imports-x509': [
    ['services/runner/kernel/network/proxy.ts', '@peculiar/x509'],
    ['services/alpha/reflect.ts', 'reflect-metadata'],
  ],
  'only-lib-mcp-imports-the-mcp-client': [
    ['services/runner/tools/mcp.ts', '@modelcontextprotocol/client'],
    ['lib/mcp-catalogue/client.ts', '@modelcontextprotocol/client'],
  ],
  'only-lib-metrics-imports-prometheus': [['edge/metrics.ts', 'prom-client']],
  'model-providers-are-loaded-on-demand': [['services/runner/models/eager.ts', '@ai-sdk/openai', 'import']],
  'trace-export-is-loaded-on-demand': [['services/alpha/eager.ts', '../../lib/telemetry/otlp.ts', 'import']],
  'only-the-simulated-shell-imports-just-bash': [['services/runner/tools/shell.ts', 'just-bash']],
  'only-the-calendar-imports-croner': [
    ['services/deployments/domain/schedules/times.ts', 'croner'],
    ['services/deployments/ticker.ts', 'croner'],
  ],
  'only-the-zone-imports-temporal': [
    ['services/deployments/domain/schedules/offsets.ts', 'temporal-polyfill'],
  ],
  'only-vaults-oauth-imports-oauth4webapi': [
    ['services/auth/oauth.ts', 'oauth4webapi'],
    ['services/vaults/tokens.ts', 'oauth4webapi'],
  ],
  'only-auth-imports-identity-libraries': [
    ['edge/logins.ts', 'openid-client'],
    ['services/alpha/tokens.ts', 'jose'],
  ],
  'only-the-runner-imports-model-libraries': [['services/alpha/model.ts', 'ai']],
  'only-the-slack-product-imports-slack': [
    ['services/alpha/chat.ts', '@slack/web-api'],
    ['services/channels/products/http/chat.ts', '@slack/socket-mode'],
  ],
  'only-the-telegram-product-imports-grammy': [['services/channels/chat.ts', 'grammy']],
  'only-the-discord-product-imports-discord': [
    ['services/channels/products/slack/rest.ts', '@discordjs/rest'],
  ],
  'messaging-products-are-loaded-on-demand': [
    ['services/channels/eager.ts', './products/discord/product.ts', 'import'],
  ],
  'product-imports-no-tests': [['services/alpha/fake.ts', '../../test/support/fake.ts']],
  'product-imports-no-scripts': [['lib/tooling.ts', '../scripts/tool.ts']],
  'product-imports-no-dev-package': [['lib/checked.ts', 'vitest', 'import']],
  'every-package-is-declared': [['scripts/borrowed.ts', 'borrowed']],
  'every-import-resolves': [['scripts/lost.ts', './nowhere.ts']],
};

/** Allowed imports that are close to a rule. */
const ALLOWED: Record<string, string[]> = {
  'lib/db/database.ts': ['pg', '../errors.ts'],
  'lib/bus/redis.ts': ['redis'],
  'lib/blobs/blobs.ts': ['minio'],
  'lib/grpc/server.ts': ['nice-grpc-common', '@grpc/grpc-js', '../../proto/gen/ahs/common/v1/common.ts'],
  'lib/grpc/details.ts': ['../../proto/gen/google/rpc/status.ts'],
  'lib/grpc/calls/stream.ts': ['../../../proto/gen/ahs/calls/v1/calls.ts'],
  'lib/grpc/reflection.ts': ['../../proto/gen/grpc/reflection/v1/reflection.ts'],
  'lib/telemetry/recorded-span.ts': ['@opentelemetry/api'],
  'lib/telemetry/open.ts': ['./otlp.ts'],
  'lib/metrics.ts': ['prom-client'],
  'lib/outbound/client.ts': ['undici'],
  'lib/mcp/client.ts': ['@modelcontextprotocol/client'],
  'services/vaults/oauth/discovery.ts': ['oauth4webapi'],
  'services/deployments/domain/schedules/calendar.ts': ['croner'],
  'services/deployments/domain/schedules/zone.ts': ['temporal-polyfill'],
  'services/alpha/config.ts': ['../../lib/env.ts'],
  'services/alpha/domain.ts': ['../../lib/errors.ts', '../../lib/ids.ts', '../../lib/events.ts'],
  'services/alpha/store.ts': [
    '../../lib/db/database.ts',
    '../../lib/clock.ts',
    './domain.ts',
    './signature.ts',
  ],
  'services/alpha/handlers.ts': ['../../lib/grpc/server.ts', './domain.ts', './store.ts', './signature.ts'],
  'services/alpha/signature.ts': ['node:crypto', '../../lib/ids.ts'],
  'services/alpha/service.ts': ['../../lib/db/database.ts', './handlers.ts', './config.ts'],
  'services/call/store/rows.ts': [
    '../../../lib/bus/bus.ts',
    '../../../lib/db/database.ts',
    '../domain/call.ts',
  ],
  'services/call/domain/call.ts': ['./name.ts', '../../../lib/errors.ts'],
  'services/runner/models/step.ts': ['ai', '@ai-sdk/openai'],
  'services/runner/loop/turn.ts': ['../models/step.ts', '../tool-calls/call.ts'],
  'services/runner/service.ts': ['./loop/turn.ts'],
  'services/channels/products/discord/product.ts': ['@discordjs/rest'],
  'services/main.ts': ['./bootstrap/open.ts', './alpha/service.ts'],
  'services/bootstrap/open.ts': ['../alpha/service.ts', '../../edge/server.ts', '../../lib/db/database.ts'],
  'edge/server.ts': ['fastify', '../lib/bus/redis.ts', '../proto/gen/ahs/alpha/v1/alpha.ts'],
  'console/api/agents.ts': ['../gen/client.ts', '@tanstack/react-query'],
  'console/journal/log.ts': ['../api/agents.ts', '../gen/client.ts'],
  'console/ui/button.tsx': ['react', '@base-ui/react', 'lucide-react', './icon.tsx'],
  'console/parts/list.tsx': ['../ui/button.tsx', '../api/agents.ts', '@tanstack/react-query'],
  'console/pages/sessions/page.tsx': [
    './parts.tsx',
    '../../parts/list.tsx',
    '../../ui/button.tsx',
    '../../journal/log.ts',
    '../../api/agents.ts',
  ],
  'console/app/router.tsx': ['../pages/sessions/page.tsx', '../parts/list.tsx', '../api/agents.ts'],
  'console/vite.config.ts': ['node:path', 'vitest'],
  'test/support/fake.ts': ['fastify', 'pg', 'vitest', '../../services/alpha/store.ts'],
  'scripts/tool.ts': ['../edge/server.ts'],
};

const LEAVES = [
  ...['errors', 'ids', 'events', 'clock', 'env', 'bus/bus', 'telemetry/otlp'].map((name) => `lib/${name}.ts`),
  'proto/gen/ahs/alpha/v1/alpha.ts',
  'proto/gen/ahs/common/v1/common.ts',
  'proto/gen/ahs/calls/v1/calls.ts',
  'proto/gen/google/rpc/status.ts',
  'proto/gen/grpc/reflection/v1/reflection.ts',
  'services/row/store.ts',
  'services/call/handlers.ts',
  'services/call/config.ts',
  'services/call/domain/name.ts',
  'services/runner/queue/claim.ts',
  'services/runner/tools/bash.ts',
  'services/runner/sandbox-pool/pool.ts',
  'services/runner/sandbox-providers/provider.ts',
  'services/runner/tool-calls/call.ts',
  'console/gen/client.ts',
  'console/ui/icon.tsx',
  'console/pages/sessions/parts.tsx',
];

const PACKAGES = [
  'fastify',
  '@fastify/helmet',
  'pg',
  'redis',
  'just-bash',
  'minio',
  'nice-grpc-common',
  '@grpc/grpc-js',
  '@opentelemetry/api',
  'prom-client',
  'undici',
  '@modelcontextprotocol/client',
  '@peculiar/x509',
  'reflect-metadata',
  'oauth4webapi',
  'croner',
  'temporal-polyfill',
  '@slack/web-api',
  '@slack/socket-mode',
  'grammy',
  '@discordjs/rest',
  'openid-client',
  'jose',
  'ai',
  '@ai-sdk/openai',
];

const DEV_PACKAGES = ['vitest', 'react', '@base-ui/react', 'lucide-react', '@tanstack/react-query'];

const VIOLATING = new Set(
  Object.values(VIOLATIONS)
    .flat()
    .map(([file]) => file),
);

let base = '';
let inspection: Inspection;

async function plant(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), text);
}

const declare = (names: string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']));

async function plantPackage(name: string): Promise<void> {
  await plant(
    `node_modules/${name}/package.json`,
    JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
  );
  await plant(`node_modules/${name}/index.js`, 'exports.thing = 1;\n');
}

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'imports-'));
  const declared = declare(PACKAGES);
  await plant(
    'package.json',
    JSON.stringify({ dependencies: declared, devDependencies: declare(DEV_PACKAGES) }),
  );
  for (const name of [...PACKAGES, ...DEV_PACKAGES, 'borrowed']) await plantPackage(name);
  for (const path of LEAVES) await plant(path, 'export type thing = 1;\n');
  for (const [path, targets] of Object.entries(ALLOWED)) {
    const lines = targets.map(
      (target, index) => `import type { thing as thing${index} } from '${target}';\n`,
    );
    await plant(
      path,
      `${lines.join('')}export type thing = ${targets.map((_, index) => `thing${index}`).join('|')};\n`,
    );
  }
  for (const [path, target, keyword = 'import type'] of Object.values(VIOLATIONS).flat()) {
    await plant(path, `${keyword} { thing as other } from '${target}';\nexport type thing = typeof other;\n`);
  }
  inspection = await inspect(base, ['lib', 'services', 'edge', 'console', 'scripts', 'proto/gen', 'test']);
});

afterAll(() => rm(base, { recursive: true, force: true }));

describe('import rules', () => {
  it('each have a planted violation in this test', async () => {
    expect(Object.keys(VIOLATIONS).sort()).toEqual((await ruleNames()).sort());
  });

  for (const [rule, violations] of Object.entries(VIOLATIONS)) {
    it.each(violations)(`${rule}: %s may not import %s`, (file) => {
      const broken = inspection.findings.filter(({ from, to }) => [from, ...to.split(' → ')].includes(file));
      expect([...new Set(broken.map((finding) => finding.rule))]).toEqual([rule]);
    });
  }

  it('report no allowed import', () => {
    expect(inspection.findings.filter((finding) => !VIOLATING.has(finding.from))).toEqual([]);
  });

  it('cover every file', () => {
    expect(inspection.unread).toEqual([]);
    expect(inspection.read).toBe(new Set([...LEAVES, ...Object.keys(ALLOWED), ...VIOLATING]).size);
  });

  it('are not sound when no file was read', async () => {
    const nothing = await inspect(base, ['deploy']);
    expect(nothing).toEqual({ read: 0, unread: [], findings: [] });
    expect(isSound(nothing)).toBe(false);
  });

  it('are not sound when a file was not read', () => {
    expect(isSound({ read: 9, unread: ['lib/new.ts'], findings: [] })).toBe(false);
  });
});
