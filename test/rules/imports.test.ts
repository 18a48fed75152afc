import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Inspection, inspect, isSound, ruleNames } from '../../scripts/imports.ts';

/** For each rule: the file that breaks it, and what that file imports (its types only, where nothing is said). */
const FAULTS: Record<string, [file: string, imports: string, keyword?: 'import'][]> = {
  'lib-is-acyclic': [
    ['lib/chicken.ts', './egg.ts'],
    ['lib/egg.ts', './chicken.ts'],
  ],
  'lib-knows-no-service': [['lib/greedy.ts', '../services/alpha/config.ts']],
  'lib-knows-no-contract': [['lib/grpc/knowing.ts', '../../proto/gen/ahs/alpha/v1/alpha.ts']],
  'only-the-transport-knows-the-error-trailer': [['lib/refusal.ts', '../proto/gen/ahs/common/v1/common.ts']],
  'contracts-know-nobody': [['proto/gen/ahs/beta/v1/beta.ts', '../../../../../lib/errors.ts']],
  'domain-is-pure': [
    ['services/wall/domain.ts', '../../lib/clock.ts'],
    ['services/disk/domain.ts', 'node:fs'],
    ['services/wire/domain/shape.ts', '../../../proto/gen/ahs/alpha/v1/alpha.ts'],
    ['services/row/domain/row.ts', '../store.ts'],
  ],
  'store-holds-the-sql': [
    ['services/alpha/shortcut.ts', '../../lib/db/database.ts'],
    ['services/alpha/handlers/shortcut.ts', '../../../lib/db/database.ts'],
  ],
  'store-knows-only-the-database': [
    ['services/wire/store.ts', '../../proto/gen/ahs/alpha/v1/alpha.ts'],
    ['services/disk/store/disk.ts', 'node:fs'],
    ['services/call/store/call.ts', '../handlers.ts'],
    ['services/call/store/tuned.ts', '../config.ts'],
    ['services/call/store/shared.ts', '../../../lib/bus/redis.ts'],
  ],
  'handlers-answer-calls': [['services/wall/handlers.ts', '../../lib/env.ts']],
  'no-service-imports-another': [
    ['services/alpha/neighbour.ts', '../call/handlers.ts'],
    ['services/alpha/upstairs.ts', '../house/house.ts'],
    ['services/alpha/everyone.ts', '../main.ts'],
  ],
  'no-service-knows-the-edge': [['services/alpha/outside.ts', '../../edge/server.ts']],
  'nothing-goes-in-circles': [
    ['services/alpha/hen.ts', './chick.ts'],
    ['services/alpha/chick.ts', './hen.ts'],
  ],
  'edge-has-no-database': [
    ['edge/routes/rows.ts', '../../lib/db/database.ts'],
    ['edge/routes/bytes.ts', '../../lib/blobs/blobs.ts'],
  ],
  'edge-imports-no-service': [['edge/routes/inside.ts', '../../services/alpha/config.ts']],
  'only-edge-knows-fastify': [
    ['services/alpha/http.ts', 'fastify'],
    ['lib/http.ts', '@fastify/helmet'],
  ],
  'console-knows-the-api-alone': [
    ['console/api/codes.ts', '../../lib/errors.ts'],
    ['console/parts/shapes.tsx', '../../proto/gen/ahs/alpha/v1/alpha.ts'],
    ['console/pages/agents/inside.tsx', '../../../edge/server.ts'],
  ],
  'nobody-knows-the-console': [['edge/routes/pages.ts', '../../console/api/agents.ts']],
  'console-runs-in-browsers': [['console/parts/disk.ts', 'node:fs']],
  'console-gen-stands-alone': [['console/gen/knowing.ts', '../api/agents.ts']],
  'console-api-knows-the-client': [
    ['console/api/shown.ts', '../ui/button.tsx'],
    ['console/api/common.ts', '../parts/list.tsx'],
  ],
  'console-journal-knows-no-page': [
    ['console/journal/shown.tsx', '../ui/button.tsx'],
    ['console/journal/page.ts', '../pages/sessions/page.tsx'],
  ],
  'console-ui-knows-neither-api-nor-pages': [
    ['console/ui/agent.tsx', '../api/agents.ts'],
    ['console/ui/record.tsx', '../gen/client.ts'],
    ['console/ui/common.tsx', '../parts/list.tsx'],
  ],
  'console-ui-is-made-of-three-packages': [['console/ui/asked.tsx', '@tanstack/react-query']],
  'console-parts-know-no-page': [
    ['console/parts/page.tsx', '../pages/sessions/page.tsx'],
    ['console/parts/way.ts', '../app/router.tsx'],
  ],
  'console-pages-know-not-the-app': [['console/pages/agents/way.tsx', '../../app/router.tsx']],
  'console-pages-know-not-each-other': [['console/pages/agents/other.tsx', '../sessions/page.tsx']],
  'only-lib-db-speaks-postgres': [['services/alpha/pool.ts', 'pg']],
  'only-lib-bus-speaks-redis': [['edge/limits.ts', 'redis']],
  'only-lib-blobs-speaks-s3': [['services/alpha/bucket.ts', 'minio']],
  'only-lib-grpc-speaks-grpc': [
    ['edge/clients.ts', 'nice-grpc-common'],
    ['services/alpha/channel.ts', '@grpc/grpc-js'],
  ],
  'only-lib-telemetry-speaks-opentelemetry': [['services/alpha/spans.ts', '@opentelemetry/api']],
  'only-lib-metrics-speaks-prometheus': [['edge/metrics.ts', 'prom-client']],
  'providers-are-loaded-when-needed': [['services/runner/eager.ts', '@ai-sdk/openai', 'import']],
  'exporting-is-loaded-when-needed': [['services/alpha/eager.ts', '../../lib/telemetry/otlp.ts', 'import']],
  'only-the-simulated-shell-knows-its-library': [['services/runner/shell.ts', 'just-bash']],
  'only-auth-speaks-to-identity-providers': [
    ['edge/logins.ts', 'openid-client'],
    ['services/alpha/tokens.ts', 'jose'],
  ],
  'only-the-runner-speaks-to-models': [['services/alpha/model.ts', 'ai']],
  'tests-do-not-leak-into-the-product': [['services/alpha/fake.ts', '../../test/support/fake.ts']],
  'the-product-runs-without-scripts': [['lib/tooling.ts', '../scripts/tool.ts']],
  'the-product-needs-no-dev-package': [['lib/checked.ts', 'vitest', 'import']],
  'every-package-is-declared': [['scripts/borrowed.ts', 'borrowed']],
  'every-import-is-found': [['scripts/lost.ts', './nowhere.ts']],
};

/** What is allowed although it is near a rule. */
const ALLOWED: Record<string, string[]> = {
  'lib/db/database.ts': ['pg', '../errors.ts'],
  'lib/bus/redis.ts': ['redis'],
  'lib/blobs/blobs.ts': ['minio'],
  'lib/grpc/network.ts': ['nice-grpc-common', '@grpc/grpc-js', '../../proto/gen/ahs/common/v1/common.ts'],
  'lib/telemetry/recorded.ts': ['@opentelemetry/api'],
  'lib/telemetry/open.ts': ['./otlp.ts'],
  'lib/metrics.ts': ['prom-client'],
  'services/alpha/config.ts': ['../../lib/env.ts'],
  'services/alpha/domain.ts': ['../../lib/errors.ts', '../../lib/ids.ts', '../../lib/events.ts'],
  'services/alpha/store.ts': [
    '../../lib/db/database.ts',
    '../../lib/clock.ts',
    './domain.ts',
    './signature.ts',
  ],
  'services/alpha/handlers.ts': ['../../lib/grpc/network.ts', './domain.ts', './store.ts', './signature.ts'],
  'services/alpha/signature.ts': ['node:crypto', '../../lib/ids.ts'],
  'services/alpha/service.ts': ['../../lib/db/database.ts', './handlers.ts', './config.ts'],
  'services/call/store/rows.ts': [
    '../../../lib/bus/bus.ts',
    '../../../lib/db/database.ts',
    '../domain/call.ts',
  ],
  'services/call/domain/call.ts': ['./name.ts', '../../../lib/errors.ts'],
  'services/runner/step.ts': ['ai', '@ai-sdk/openai'],
  'services/main.ts': ['./house/house.ts', './alpha/service.ts'],
  'services/house/house.ts': ['../alpha/service.ts', '../../edge/server.ts', '../../lib/db/database.ts'],
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
  'services/row/store.ts',
  'services/call/handlers.ts',
  'services/call/config.ts',
  'services/call/domain/name.ts',
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
  'openid-client',
  'jose',
  'ai',
  '@ai-sdk/openai',
];

const DEV_PACKAGES = ['vitest', 'react', '@base-ui/react', 'lucide-react', '@tanstack/react-query'];

const FAULTY = new Set(
  Object.values(FAULTS)
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
  for (const [path, target, keyword = 'import type'] of Object.values(FAULTS).flat()) {
    await plant(path, `${keyword} { thing as other } from '${target}';\nexport type thing = typeof other;\n`);
  }
  inspection = await inspect(base, ['lib', 'services', 'edge', 'console', 'scripts', 'proto/gen', 'test']);
});

afterAll(() => rm(base, { recursive: true, force: true }));

describe('import rules', () => {
  it('each have a planted fault here', async () => {
    expect(Object.keys(FAULTS).sort()).toEqual((await ruleNames()).sort());
  });

  for (const [rule, faults] of Object.entries(FAULTS)) {
    it.each(faults)(`${rule}: %s may not import %s`, (file) => {
      const broken = inspection.findings.filter(({ from, to }) => [from, ...to.split(' → ')].includes(file));
      expect([...new Set(broken.map((finding) => finding.rule))]).toEqual([rule]);
    });
  }

  it('let everything else through', () => {
    expect(inspection.findings.filter((finding) => !FAULTY.has(finding.from))).toEqual([]);
  });

  it('read every file', () => {
    expect(inspection.unread).toEqual([]);
    expect(inspection.read).toBe(new Set([...LEAVES, ...Object.keys(ALLOWED), ...FAULTY]).size);
  });

  it('are not satisfied by reading nothing', async () => {
    const nothing = await inspect(base, ['deploy']);
    expect(nothing).toEqual({ read: 0, unread: [], findings: [] });
    expect(isSound(nothing)).toBe(false);
  });

  it('are not satisfied when a file was left unread', () => {
    expect(isSound({ read: 9, unread: ['lib/new.ts'], findings: [] })).toBe(false);
  });
});
