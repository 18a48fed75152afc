import { mkdir, mkdtemp, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TlsPaths } from '../../lib/grpc/tls-files.ts';
import type { Certificate } from './certificates.ts';

/** Writes files to a new directory. The certificate and key are symbolic links, as in a volume of Kubernetes. */
export async function writeTlsFiles(
  parent: string,
  { cert, key }: Certificate,
  ca: string,
): Promise<TlsPaths> {
  const directory = await mkdtemp(join(parent, 'files-'));
  await mkdir(join(directory, '..data.1'));
  await symlink('..data.1', join(directory, '..data'));
  for (const [name, content] of Object.entries({ cert, key })) {
    await writeFile(join(directory, '..data', name), content);
    await symlink(join('..data', name), join(directory, name));
  }
  const paths = { cert: join(directory, 'cert'), key: join(directory, 'key'), ca: join(directory, 'ca') };
  await writeFile(paths.ca, ca);
  return paths;
}

/** The ways in which operators and Kubernetes replace files. */
export const REPLACEMENTS: [string, (paths: TlsPaths, next: Certificate) => Promise<void>][] = [
  [
    'files that were written in place',
    async (paths, { cert, key }) => {
      await writeFile(paths.cert, cert);
      await writeFile(paths.key, key);
    },
  ],
  [
    'files that were moved there',
    async (paths, { cert, key }) => {
      await writeFile(`${paths.cert}.new`, cert);
      await writeFile(`${paths.key}.new`, key);
      await rename(`${paths.cert}.new`, paths.cert);
      await rename(`${paths.key}.new`, paths.key);
    },
  ],
  [
    'another directory behind symbolic links',
    async (paths, { cert, key }) => {
      const directory = `${dirname(paths.cert)}/..data`;
      await mkdir(`${directory}.2`);
      await writeFile(`${directory}.2/cert`, cert);
      await writeFile(`${directory}.2/key`, key);
      await symlink(`${directory}.2`, `${directory}.new`);
      await rename(`${directory}.new`, directory);
    },
  ],
];
