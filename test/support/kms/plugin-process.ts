import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const PROTO = fileURLToPath(new URL('../../../proto', import.meta.url));

/** A KMS plugin in a process of its own, which ends with this process. */
export interface KmsPluginProcess extends AsyncDisposable {
  socket: string;
  /** Adds a key, with which new texts are encrypted. */
  addKey(id: string): Promise<void>;
  kill(): Promise<void>;
  /** Suspends the process, with its connections open, until the returned function is called. */
  suspend(): () => void;
  start(): Promise<void>;
}

/** A plugin with keys in a file. `removeKey` makes texts of a key unreadable. */
export async function startFileKms(): Promise<KmsPluginProcess & { removeKey(id: string): void }> {
  const directory = mkdtempSync(join(tmpdir(), 'kms-file-'));
  const keyFile = join(directory, 'keys.json');
  const keys: { current: string; byId: Record<string, string> } = { current: '', byId: {} };
  const write = () => writeFileSync(keyFile, JSON.stringify(keys), { mode: 0o600 });
  const addKey = async (id: string) => {
    keys.current = id;
    keys.byId[id] = randomBytes(32).toString('base64');
    write();
  };
  await addKey('file-key-1');
  const plugin = await run(directory, (socket) => [
    process.execPath,
    [join(FOLDER, 'serve-plugin.ts'), socket, keyFile],
  ]);
  const removeKey = (id: string) => {
    delete keys.byId[id];
    write();
  };
  return { ...plugin, addKey, removeKey };
}

const LIBRARIES = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib64/softhsm/libsofthsm2.so'];
const TOKEN = 'ahs-test';
const PIN = '1234';

/** A plugin with keys in a token of SoftHSM (the packages softhsm2, python3-pykcs11, python3-grpcio, protobuf-compiler-grpc). */
export async function startSoftHsmKms(): Promise<KmsPluginProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'kms-hsm-'));
  const config = join(directory, 'softhsm2.conf');
  writeFileSync(
    config,
    `directories.tokendir = ${directory}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  );
  const env = { ...process.env, SOFTHSM2_CONF: config };
  const pins = ['--pin', PIN, '--so-pin', PIN];
  execFileSync('softhsm2-util', ['--init-token', '--free', '--label', TOKEN, ...pins], {
    env,
    stdio: 'pipe',
  });
  const out = [`--python_out=${directory}`, `--grpc_python_out=${directory}`];
  const generator = execFileSync('which', ['grpc_python_plugin']).toString().trim();
  const contract = 'kubernetes/kms/v2/api.proto';
  execFileSync('protoc', ['-I', PROTO, `--plugin=protoc-gen-grpc_python=${generator}`, ...out, contract]);
  let label = 'hsm-key-1';
  const plugin = await run(
    directory,
    (socket) => [
      '/usr/bin/python3',
      [join(FOLDER, 'softhsm.py'), directory, socket, LIBRARIES.join(':'), TOKEN, PIN, label],
    ],
    env,
  );
  return {
    ...plugin,
    async addKey(id) {
      label = id;
      await plugin.kill();
      await plugin.start();
    },
  };
}

type CommandOf = (socket: string) => [program: string, args: string[]];

async function run(directory: string, commandOf: CommandOf, env = process.env) {
  const socket = join(directory, 'kms.sock');
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    rmSync(socket, { force: true });
    const [program, args] = commandOf(socket);
    const started = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    child = started;
    const exited = once(started, 'exit').then(([code]) => {
      throw new Error(`${program} ended with ${code}`);
    });
    exited.catch(() => {});
    await Promise.race([once(createInterface(started.stdout), 'line'), exited]);
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  await start();
  return {
    socket,
    start,
    kill,
    suspend() {
      child?.kill('SIGSTOP');
      return () => void child?.kill('SIGCONT');
    },
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
