import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './port.ts';
import { until } from './wait.ts';

const run = promisify(execFile);

export interface S3User {
  accessKey: string;
  secretKey: string;
}

export interface CephServer extends AsyncDisposable {
  /** http://127.0.0.1:… */
  endpoint: string;
  port: number;
  /** A user who can create buckets. */
  user: S3User;
  /** A user who cannot create buckets. */
  userWithoutBuckets: S3User;
  /** Kills the gateway. Its data stays. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Stops the gateway process, with its connections open, until the returned function is called. */
  pause(): () => void;
  stop(): Promise<void>;
}

/**
 * Starts Ceph's S3 gateway (`radosgw`) with one monitor and one object storage daemon on free ports. All data is in a
 * temporary directory, which is deleted at the end. The programs end with this process.
 */
export async function startCeph(): Promise<CephServer> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-test-s3-'));
  const cluster = new Cluster(directory);
  try {
    return await cluster.start();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

class Cluster {
  readonly #directory: string;
  readonly #conf: string;
  readonly #programs: ChildProcess[] = [];
  #gateway: ChildProcess | undefined;
  #port = 0;

  constructor(directory: string) {
    this.#directory = directory;
    this.#conf = join(directory, 'ceph.conf');
  }

  async start(): Promise<CephServer> {
    const [monitor, port] = [await freePort(), await freePort()];
    this.#port = port;
    await writeFile(this.#conf, configuration(this.#directory, monitor, port));
    await mkdir(join(this.#directory, 'run'));
    await this.#startMonitor();
    await this.#startStore();
    const user = await this.#makeUser('tester', 1_000);
    const guest = await this.#makeUser('guest', -1);
    await this.#startGateway();
    const stop = () => this.stop();
    return {
      endpoint: `http://127.0.0.1:${port}`,
      port,
      user,
      userWithoutBuckets: guest,
      kill: () => end(this.#gateway, 'SIGKILL'),
      restart: async () => {
        await end(this.#gateway, 'SIGKILL');
        await this.#startGateway();
      },
      pause: () => {
        const paused = this.#gateway;
        paused?.kill('SIGSTOP');
        return () => void paused?.kill('SIGCONT');
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  }

  async stop(): Promise<void> {
    await end(this.#gateway, 'SIGKILL');
    await Promise.all(this.#programs.map((program) => end(program, 'SIGKILL')));
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #startMonitor(): Promise<void> {
    const keyring = join(this.#directory, 'keyring');
    await run('ceph-authtool', [
      '--create-keyring',
      keyring,
      '--gen-key',
      '-n',
      'mon.',
      '--cap',
      'mon',
      'allow *',
    ]);
    await run('ceph-mon', ['-c', this.#conf, '--mkfs', '-i', 'a', '--keyring', keyring]);
    this.#programs.push(this.#spawn('ceph-mon', '-i', 'a'));
    await until('the monitor responds', () => this.#ceph('-s').then(Boolean, () => false), 60_000);
    // Avoids warnings of the monitor that do not matter for a test cluster.
    await this.#ceph('config', 'set', 'mon', 'auth_allow_insecure_global_id_reclaim', 'false');
  }

  async #startStore(): Promise<void> {
    await this.#ceph('osd', 'new', '00000000-0000-4000-8000-000000000001');
    await mkdir(join(this.#directory, 'osd'));
    await run('ceph-osd', [
      ...['-c', this.#conf, '-i', '0', '--mkfs', '--osd-uuid', '00000000-0000-4000-8000-000000000001'],
    ]);
    this.#programs.push(this.#spawn('ceph-osd', '-i', '0'));
    await until(
      'the object storage daemon is up',
      async () => (await this.#ceph('osd', 'stat')).includes('1 up'),
      60_000,
    );
  }

  /** `buckets`: the maximum number of buckets; -1: none. */
  async #makeUser(name: string, buckets: number): Promise<S3User> {
    const [accessKey, secretKey] = [`${name}-key`, `the secret of the ${name}`.replaceAll(' ', '-')];
    await run(
      'radosgw-admin',
      [
        ...['-c', this.#conf, 'user', 'create', `--uid=${name}`, `--display-name=${name}`],
        ...[`--access-key=${accessKey}`, `--secret-key=${secretKey}`, `--max-buckets=${buckets}`],
      ],
      { timeout: 120_000 },
    );
    return { accessKey, secretKey };
  }

  async #startGateway(): Promise<void> {
    this.#gateway = this.#spawn('radosgw', '-n', 'client.rgw');
    const answers = () =>
      fetch(`http://127.0.0.1:${this.#port}/`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until('the gateway responds', answers, 120_000);
  }

  async #ceph(...args: string[]): Promise<string> {
    return (await run('ceph', ['-c', this.#conf, '--connect-timeout', '30', ...args])).stdout;
  }

  #spawn(program: string, ...args: string[]): ChildProcess {
    const all = ['--pdeathsig', 'KILL', program, '-c', this.#conf, ...args, '-f'];
    return spawn('setpriv', all, { stdio: 'ignore' });
  }
}

async function end(program: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!program || program.exitCode !== null || program.signalCode !== null) return;
  const ended = once(program, 'exit');
  program.kill(signal);
  await ended;
}

function configuration(directory: string, monitor: number, port: number): string {
  return `[global]
fsid = 00000000-0000-4000-8000-000000000000
mon host = 127.0.0.1:${monitor}
mon initial members = a
ms bind port min = 40000
ms bind port max = 65000
ms mon client mode = crc
auth cluster required = none
auth service required = none
auth client required = none
run dir = ${directory}/run
admin socket = ${directory}/run/$name.$pid.asok
log file = ${directory}/$name.log
log to stderr = false
err to stderr = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
mon data avail warn = 2
mon warn on pool no redundancy = false

[mon.a]
mon addr = 127.0.0.1:${monitor}
mon data = ${directory}/mon

[osd.0]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
osd data = ${directory}/osd
osd objectstore = bluestore
bluestore block size = 2147483648
osd memory target = 939524096

[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw data = ${directory}/rgw
rgw cache enabled = false
rgw thread pool size = 16
rgw enable usage log = false
rgw run sync thread = false
rgw enable apis = s3
`;
}
