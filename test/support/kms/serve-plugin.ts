/** A KMS plugin in a process of its own: `node serve-plugin.ts <socket> <key file>`. The key file is read for each call. */
import { readFileSync } from 'node:fs';
import { startKmsPlugin } from './plugin.ts';

const [socket = '', keyFile = ''] = process.argv.slice(2);
await startKmsPlugin(socket, () => {
  const { current, byId } = JSON.parse(readFileSync(keyFile, 'utf8'));
  const keys = Object.entries<string>(byId).map(([id, key]) => [id, Buffer.from(key, 'base64')]);
  return { current, byId: Object.fromEntries(keys) };
});
process.stdout.write('serving\n');
// The parent has ended.
process.stdin.on('end', () => process.exit()).resume();
