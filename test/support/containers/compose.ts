import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Envelope } from '../api.ts';
import { until } from '../wait.ts';
import { type Docker, startDocker } from './docker.ts';
import { findCompose } from './find-compose.ts';
import { makeBackendsImage, makeNodeImage } from './images.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FILES = ['docker-compose.yml', 'test/support/containers/docker-compose.override.yml'];
/** Ten containers start at the same time, which takes minutes on a busy machine. */
const READY_MS = 240_000;
const ORIGIN = 'http://127.0.0.1:8080';

interface ComposeResponse {
  status: number;
  body: Envelope;
}

export interface ComposeProject extends AsyncDisposable {
  docker: Docker;
  /** Runs a command of docker-compose with these variables in its environment. Returns its output. */
  compose(args: readonly string[], variables?: Record<string, string>): Promise<string>;
  /** Sends a request to the edge. A body is sent as JSON. */
  request(method: string, path: string, body?: object): Promise<ComposeResponse>;
  /** Runs a script of bash on the machine where the edge is published. Returns its output. */
  runScript(script: string): Promise<string>;
}

/** Builds both images, with the package of one optional model provider, with docker-compose and starts all containers. Resolves when the edge is ready. */
export async function startComposeProject(): Promise<ComposeProject> {
  await using stack = new AsyncDisposableStack();
  const docker = stack.use(await startDocker());
  await makeNodeImage(docker);
  const command = await findCompose(docker.environment);
  const secret = () => randomBytes(32).toString('hex');
  const environment = {
    COMPOSE_FILE: FILES.map((file) => join(ROOT, file)).join(':'),
    COMPOSE_PROJECT_NAME: 'test',
    PROXY_URL: docker.proxyUrl,
    SERVICE_SECRET: secret(),
    SERVICE_SEALING_KEY: secret(),
    POSTGRES_PASSWORD: secret(),
    MINIO_PASSWORD: secret(),
    MODEL_PACKAGES: await optionalPackage('@ai-sdk/google'),
  };
  const project: ComposeProject = {
    docker,
    compose: (args, variables) =>
      docker.run([...command, ...args], { cwd: ROOT, environment: { ...environment, ...variables } }),
    async request(method, path, body) {
      const json = ['--header', 'Content-Type: application/json', '--data-binary', '@-'];
      const options = ['--silent', '--max-time', '10', '--request', method, '--write-out', '\n%{http_code}'];
      const command = ['curl', ...options, ...(body ? json : []), `${ORIGIN}${path}`];
      const output = await docker.runInNetwork(command, { input: body ? JSON.stringify(body) : '' });
      const end = output.lastIndexOf('\n');
      return { status: Number(output.slice(end)), body: JSON.parse(output.slice(0, end)) };
    },
    runScript: (script) => docker.runInNetwork(['bash', '-c', script], { cwd: docker.directory }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  // The second build finds all common stages in the cache of the first.
  const build = async () => {
    await project.compose(['build', 'runner']);
    await project.compose(['build', 'edge']);
  };
  await Promise.all([build(), makeBackendsImage(docker)]);
  await project.compose(['up', '--detach']);
  await untilReady(project);
  const owned = stack.move();
  return { ...project, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Returns the name and the supported version of an optional package. */
async function optionalPackage(name: string): Promise<string> {
  const { peerDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  return `${name}@${peerDependencies[name]}`;
}

async function untilReady({ request, compose }: ComposeProject): Promise<void> {
  const isReady = () =>
    request('GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  await until('the edge is ready', isReady, READY_MS).catch(async (error: unknown) => {
    throw new Error(`${error}\n${await compose(['ps'])}\n${await compose(['logs', '--tail=20'])}`);
  });
}
