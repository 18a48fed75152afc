import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numbersOf } from '../../services/runner/sandbox/seccomp/calls.ts';
import { Runner } from '../services/runner/sandbox/remote.ts';
import { Sandboxes, sh, specOf, workspaceOf } from '../services/runner/sandbox/shell.ts';
import { bytes, PLAIN, readText } from '../services/runner/sandbox/workspace.ts';
import { isRoot, NOBODY, ordinaryUser } from '../support/ordinary.ts';

const SECRET = 'only-the-service-knows';
const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

/** A system call as a program makes it that has no library in its way; texts are passed as pointers. */
const call = (name: string, ...args: (number | string)[]) => {
  const texts = args.filter((one) => typeof one === 'string');
  const passed = args.map((one) => (typeof one === 'string' ? `$s[${texts.indexOf(one)}]` : one));
  const given = [numbersOf(architecture).get(name), ...passed].join(', ');
  return `perl -e '@s = (${texts.map((text) => `"${text}"`).join(', ')}); syscall(${given}); print "${name} $!\\n"';`;
};

/** Processes of this machine whose command line holds a text. */
function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isAlive = !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
        return isAlive && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? Number(pid) : [];
      } catch {
        return [];
      }
    });
}

/** Long enough never to end by itself, and like no other. */
let naps = 100_000;
const nap = () => `${++naps}${process.pid}`;

function holds(name: string, before: (directory: string) => string[]): void {
  describe(name, () => {
    const directory = mkdtempSync(join(tmpdir(), 'ahs-escape-'));
    const data = join(directory, 'data');
    let prefix: string[];
    let runner: Runner;
    let made: Sandboxes;
    beforeAll(async () => {
      writeFileSync(join(directory, 'secret'), SECRET);
      prefix = before(directory);
      runner = await Runner.start(prefix);
      made = new Sandboxes(await runner.openProvider(data));
    });
    afterAll(async () => {
      await made?.[Symbol.asyncDispose]();
      await runner?.[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    });

    it('shows the programs of the machine, and no other file of it', async () => {
      const sandbox = await made.make();
      const { stdout } = await sh(
        sandbox,
        'ls -A / /home /etc /run /var; ls /proc | grep -v "^[0-9]" > /dev/null',
      );
      for (const name of [
        'root',
        'srv',
        'opt',
        'sys',
        'mnt',
        'boot',
        'scratch',
        'sandbox',
        'shadow',
        'machine-id',
        'ssh',
      ])
        expect(stdout.split('\n')).not.toContain(name);
      for (const path of [
        directory,
        join(directory, 'secret'),
        import.meta.dirname,
        '/etc/shadow',
        '/root',
        '/sys',
      ])
        expect((await sh(sandbox, `ls ${path}`)).end.exitCode).toBe(2);
      const { stdout: found } = await sh(
        sandbox,
        `grep -rsl ${SECRET} /proc/[0-9]*/environ /proc/[0-9]*/cmdline /etc /run /tmp ~ /dev/shm`,
      );
      expect(found).toBe('');
    });

    it('can write its workspace and temporary files, and nothing else', async () => {
      const sandbox = await made.make();
      const script = `for d in / /usr /usr/bin /etc /bin /lib /home /dev /var /run /proc /proc/sys/kernel /proc/1; do
        touch $d/new 2>/dev/null && echo "$d"; done
        for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/self/uid_map /proc/self/oom_score_adj; do
        { echo -1000 > $f; } 2>/dev/null && echo "$f"; done
        for d in /workspace /tmp ~ /dev/shm /var/tmp; do touch $d/new && echo "$d yes"; done`;
      expect((await sh(sandbox, script)).stdout.split('\n')).toEqual([
        '/workspace yes',
        '/tmp yes',
        '/home/agent yes',
        '/dev/shm yes',
        '/var/tmp yes',
        '',
      ]);
    });

    it('is nobody: no root inside or outside, no capability, no way to one', async () => {
      const sandbox = await made.make();
      const { stdout } = await sh(sandbox, 'id -u; cat /proc/self/uid_map /proc/self/status');
      expect(stdout).toMatch(/^1000\n/);
      const [, inside, , length] = /\n\s+(\d+)\s+(\d+)\s+(\d+)\n/.exec(stdout) ?? [];
      expect([inside, length]).toEqual(['1000', '1']);
      for (const line of [
        'CapEff:\t0000000000000000',
        'CapBnd:\t0000000000000000',
        'NoNewPrivs:\t1',
        'Seccomp:\t2',
      ])
        expect(stdout).toContain(line);
      const mark = nap();
      const running = sh(sandbox, `sleep ${mark}`, { timeoutMs: 5_000 });
      await expect.poll(() => processesWith(`sleep\0${mark}`).length).toBeGreaterThan(0);
      for (const pid of processesWith(`sleep\0${mark}`)) {
        const uids = /Uid:\t(\d+)\t(\d+)\t(\d+)\t(\d+)/
          .exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
          ?.slice(1);
        expect(uids).not.toContain('0');
        expect(new Set(uids).size).toBe(1);
      }
      await sandbox.destroy();
      await running;
      expect(processesWith(`sleep\0${mark}`)).toEqual([]);
    });

    it('gets nothing out of programs that become root', async () => {
      const sandbox = await made.make();
      const script = `cp /bin/bash own; chmod 6755 own; ./own -p -c 'id -u'; echo | su -c 'id -u' 2>/dev/null
        for f in /usr/bin/su /usr/bin/mount /usr/bin/passwd; do [ -u $f ] && $f --version > /dev/null 2>&1; done; grep -c nosuid /proc/self/mounts; wc -l < /proc/self/mounts`;
      const [own, ...rest] = (await sh(sandbox, script)).stdout.trim().split('\n');
      expect(own).toBe('1000');
      expect(rest).not.toContain('0');
      const [withNosuid, all] = rest.slice(-2);
      expect(withNosuid).toBe(all);
    });

    it('makes no namespaces and no mounts', async () => {
      const sandbox = await made.make();
      const { stdout } = await sh(
        sandbox,
        [
          call('unshare', 0x10000000),
          call('unshare', 0x00020000),
          call('clone', 0x10000011, 0, 0, 0, 0),
          call('mount', 'x', '/tmp', 'tmpfs', 0, 0),
          call('umount2', '/proc', 2),
          call('pivot_root', '/tmp', '/tmp'),
          call('setns', 0, 0),
          call('fsopen', 'tmpfs', 0),
          call('open_tree', -100, '/', 1),
        ].join('\n'),
      );
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.replace(/^\S+ /, '')),
      ).toEqual(Array(9).fill('Operation not permitted'));
      expect((await sh(sandbox, call('clone3', 0, 0))).stdout).toContain('Function not implemented');
      expect(
        (await sh(sandbox, 'unshare -Ur true || unshare -m true || unshare -n true')).end.exitCode,
      ).not.toBe(0);
    });

    it('sees and touches no process but its own', async () => {
      const sandbox = await made.make();
      const script = `ls -d /proc/[0-9]* | wc -l; kill -9 ${runner.pid} && echo killed; kill -9 -1; echo still here`;
      const { stdout } = await sh(sandbox, script);
      expect(Number(stdout.split('\n')[0])).toBeLessThan(8);
      expect(stdout).not.toContain('killed');
      expect((await sh(sandbox, 'echo alive')).stdout).toBe('alive\n');
      const denied = ['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd'];
      const { stdout: said } = await sh(
        sandbox,
        denied.map((name) => call(name, 0, 1, 0, 0, 0, 0)).join('\n'),
      );
      expect(said.match(/Operation not permitted/g)).toHaveLength(denied.length);
    });

    it('asks the kernel for nothing by which sandboxes have been left', async () => {
      const sandbox = await made.make();
      const denied = [
        ...['bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'],
        ...['keyctl', 'add_key', 'request_key', 'kexec_load', 'init_module', 'finit_module', 'delete_module'],
        ...['open_by_handle_at', 'swapon', 'reboot', 'sethostname', 'settimeofday', 'syslog', 'acct'],
      ];
      const { stdout } = await sh(sandbox, denied.map((name) => call(name, 0, 0, 0, 0, 0)).join('\n'));
      expect(stdout.match(/Operation not permitted/g)).toHaveLength(denied.length);
      expect((await sh(sandbox, call('ioctl', 0, 0x5412, 'x'))).stdout).toContain('Operation not permitted');
      for (const family of [9, 17, 29, 31, 38, 40, 44])
        expect((await sh(sandbox, call('socket', family, 3, 0))).stdout).toContain(
          'not supported by protocol',
        );
    });

    it('has no devices but the harmless ones, and makes none', async () => {
      const sandbox = await made.make();
      const { stdout } = await sh(
        sandbox,
        'ls /dev; mknod x c 1 1 2>/dev/null && cat x; mknod y b 8 0 2>/dev/null && cat y',
      );
      expect(stdout.trim().split('\n')).toEqual([
        'core',
        'fd',
        'full',
        'null',
        'ptmx',
        'pts',
        'random',
        'shm',
        'stderr',
        'stdin',
        'stdout',
        'tty',
        'urandom',
        'zero',
      ]);
      expect((await sh(sandbox, 'head -c 1 /dev/core /proc/kcore /proc/kmsg')).stdout.length).toBeLessThan(
        60,
      );
    });

    it('reaches nobody: not the ports of the service, not the network, not the sockets of the machine', async () => {
      const sandbox = await made.make();
      const server = createTcpServer((socket) => socket.end(SECRET)).listen(0, '0.0.0.0');
      const abstract = createTcpServer((socket) => socket.end(SECRET)).listen(`\0ahs-escape-${process.pid}`);
      const named = createTcpServer((socket) => socket.end(SECRET)).listen(join(directory, 'socket'));
      await Promise.all(
        [server, abstract, named].map((one) => one.listening || new Promise((r) => one.once('listening', r))),
      );
      const { port } = server.address() as AddressInfo;
      const unix = (path: string) =>
        `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("${path}")) and print <S>'`;
      const script = `for h in 127.0.0.1 localhost ::1 10.0.0.1 169.254.169.254; do (exec 3<>/dev/tcp/$h/${port} && cat <&3); done
        ${unix(`\\0ahs-escape-${process.pid}`)}; ${unix(join(directory, 'socket'))}
        cat /proc/net/dev | tail -n +3 | cut -d: -f1; find / -xdev -type s 2>/dev/null`;
      const { stdout } = await sh(sandbox, script, { timeoutMs: 15_000 });
      for (const one of [server, abstract, named]) one.close();
      expect(stdout.trim()).toBe('lo');
    });

    it('inherits nothing of the service: no variable, no open file', async () => {
      const sandbox = await made.make();
      const { stdout } = await sh(
        sandbox,
        'env | cut -d= -f1 | sort; ls -l /proc/self/fd /proc/1/fd; cat /proc/1/environ',
      );
      expect(stdout.split('\n').filter((line) => /^[A-Z_]+$/.test(line))).toEqual([
        'HOME',
        'LANG',
        'LOGNAME',
        'PATH',
        'PWD',
        'SHELL',
        'SHLVL',
        'TERM',
        'TMPDIR',
        'USER',
        '_',
      ]);
      expect(stdout).not.toContain(directory);
      const links = stdout.split('\n').flatMap((line) => / -> (.*)$/.exec(line)?.[1] ?? []);
      for (const link of links)
        expect(link).toMatch(
          /^(\/dev\/null|\/pipes\/\S+ \(deleted\)|\/scratch\/pipes\/\S+ \(deleted\)|\/proc\/\d+\/fd|anon_inode:\[eventfd\])$/,
        );
    });

    it('does not reach the workspaces of others, nor their temporary files', async () => {
      const [one, other] = await Promise.all([made.make(), made.make()]);
      await sh(
        one,
        `echo ${SECRET} > /workspace/file; echo ${SECRET} > /tmp/file; echo ${SECRET} > ~/file; echo ${SECRET} > /dev/shm/file`,
      );
      const { stdout } = await sh(
        other,
        `ls -A /workspace /tmp ~ /dev/shm; grep -rs ${SECRET} / --exclude-dir=proc --exclude-dir=usr`,
      );
      expect(stdout).not.toContain('file');
      expect(stdout).not.toContain(SECRET);
      if (!isRoot) return;
      const owners = [one, other].map(
        ({ sandboxId }) => statSync(join(data, 'sandboxes', sandboxId, 'home')).uid,
      );
      if (prefix.length === 0) expect(new Set([...owners, 0]).size).toBe(3);
    });

    it('plants links, and nobody outside goes through them', async () => {
      const sandbox = await made.make();
      const tree = await sandbox.workspace(workspaceOf(sandbox));
      const secret = join(directory, 'secret');
      await sh(
        sandbox,
        `ln -s ${secret} file; ln -s ${directory} folder; ln -s /proc/self/environ environ; mkdir real; ln -s ../../../../../../../../../..${secret} real/up`,
      );
      for (const path of ['file', 'folder/secret', 'environ', 'real/up'])
        await expect(readText(tree, path)).rejects.toThrow();
      await expect(tree.putFile('folder/secret', bytes('x'), PLAIN)).rejects.toThrow();
      await tree.putFile('file', bytes('x'), PLAIN);
      expect(readFileSync(secret, 'utf8')).toBe(SECRET);
      await tree.clear();
      expect(readFileSync(secret, 'utf8')).toBe(SECRET);
    });

    it('swaps a directory for a link while it is read, and gains nothing', async () => {
      const sandbox = await made.make();
      const tree = await sandbox.workspace(workspaceOf(sandbox));
      const swap = `mkdir d; echo mine > d/secret; ln -s ${directory} l
        perl -e 'while (1) { rename "d", "e"; rename "l", "d"; rename "d", "l"; rename "e", "d" }'`;
      const stop = new AbortController();
      const running = sh(sandbox, swap, { signal: stop.signal });
      const found = new Set<string>();
      for (let round = 0; round < 3_000; round++)
        found.add(
          await readText(tree, 'd/secret').catch((error) => (error instanceof Error ? '' : String(error))),
        );
      stop.abort();
      await running;
      expect([...found].filter((text) => !['', 'mine\n'].includes(text))).toEqual([]);
      expect(found).toContain('mine\n');
    });

    it('leaves no process behind, however it hides', async () => {
      const sandbox = await made.make();
      const mark = nap();
      const hiding = `sleep ${mark} & (setsid nohup sleep ${mark} > /dev/null 2>&1 &); perl -e 'fork and exit; fork and exit; exec "sleep", "${mark}"'
        trap '' TERM HUP INT; echo here`;
      expect((await sh(sandbox, hiding)).stdout).toBe('here\n');
      expect(processesWith(`sleep\0${mark}`)).toEqual([]);
      const late = await sh(sandbox, `${hiding}; sleep ${mark}`, { timeoutMs: 500 });
      expect(late.end).toMatchObject({ cause: 'timeout' });
      expect(processesWith(`sleep\0${mark}`)).toEqual([]);
    });

    it('keeps a fork bomb to itself', async () => {
      const [bomb, other] = await Promise.all([made.make({ limits: { pids: 40 } }), made.make()]);
      expect(bomb.limits.pids.value).toBe(40);
      const exploding = sh(bomb, ':(){ :|:& };:; sleep 1000', { timeoutMs: 2_000, maxOutputBytes: 1e9 });
      expect((await sh(other, 'echo alive')).stdout).toBe('alive\n');
      await exploding;
      expect(processesWith(`/sandbox/${bomb.sandboxId}/`)).toEqual([]);
      expect((await sh(bomb, 'echo alive')).stdout).toBe('alive\n');
    });

    it('cannot take all memory', async () => {
      const sandbox = await made.make({ limits: { memoryMib: 64 } });
      const { end, stdout } = await sh(sandbox, `perl -e '$x = "a" x 400_000_000; print "had it"'; echo $?`);
      expect(stdout).not.toContain('had it');
      if (sandbox.limits.memoryMib.enforcement === 'sandbox') expect(end.note ?? end.cause).toMatch(/memory/);
      expect((await sh(sandbox, 'echo alive')).stdout).toBe('alive\n');
    });

    it('has one limit for all its temporary files, wherever they are', async () => {
      const sandbox = await made.make({ limits: { diskMib: 8 } });
      const fill = (path: string) => `head -c 4000000 /dev/zero > ${path}`;
      expect((await sh(sandbox, `${fill('/tmp/a')} && ${fill('~/b')}`)).end.exitCode).toBe(0);
      const { end, stderr } = await sh(sandbox, fill('/dev/shm/c'));
      expect(end.exitCode).not.toBe(0);
      expect(stderr).toContain('No space left on device');
    });

    if (isRoot) {
      it('leaves room on the disk for others', async () => {
        const small = join(directory, 'small');
        execFileSync('mount', ['--mkdir', '-t', 'tmpfs', '-o', 'size=64m,mode=777', 'tmpfs', small]);
        try {
          await using own = await Runner.start(prefix);
          await using there = new Sandboxes(await own.openProvider(join(small, 'data')));
          const sandbox = await there.make();
          const filling = 'while head -c 1000000 /dev/zero >> big; do sleep 0.02; done; sleep 1000';
          expect((await sh(sandbox, filling)).end).toEqual({
            exitCode: null,
            cause: 'disk',
            note: 'The disk of the runner is nearly full.',
          });
          await (await sandbox.workspace(workspaceOf(sandbox))).clear();
          expect((await sh(sandbox, 'echo alive')).stdout).toBe('alive\n');
        } finally {
          execFileSync('umount', [small]);
        }
      });
    }

    it('leaves its control group and its limits to others', async () => {
      const sandbox = await made.make();
      const script = `ls /sys 2>&1; find / -name cgroup.procs 2>/dev/null; ulimit -n 1000000 && echo raised; ulimit -c unlimited && echo raised`;
      const { stdout } = await sh(sandbox, script);
      expect(stdout).not.toMatch(/raised|cgroup.procs/);
    });

    it('lets no program of the machine look at what crashed in it', async () => {
      const sandbox = await made.make();
      const { stdout } = await sh(
        sandbox,
        'prlimit --core --output SOFT,HARD --noheadings; bash -c "kill -SEGV \\$\\$"; echo $?; ls -A',
      );
      expect(stdout.trim().split(/\s+/)).toEqual(['1', '1', '139']);
    });

    it('ends with its runner, even in the middle of a command', async () => {
      const own = await Runner.start(prefix);
      const ownData = join(directory, 'killed');
      const provider = await own.openProvider(ownData);
      const sandbox = await provider.create(specOf());
      const mark = nap();
      const running = sh(sandbox, `(setsid sleep ${mark} &); sleep ${mark}`).catch(() => undefined);
      await expect.poll(() => processesWith(`sleep\0${mark}`).length).toBe(2);
      await own.kill();
      await running;
      await expect.poll(() => processesWith(`sleep\0${mark}`), { timeout: 5_000 }).toEqual([]);
      await using next = await Runner.start(prefix);
      const again = await next.openProvider(ownData);
      await again.sweep([]);
      expect(readdirSync(join(ownData, 'sandboxes')).filter((one) => one !== '.trash')).toEqual([]);
      expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(sandbox.sandboxId);
      if (isRoot)
        expect(execFileSync('find', ['/sys/fs/cgroup', '-name', sandbox.sandboxId]).toString()).toBe('');
    });

    it('ends with its runner at whatever moment of a beginning', async () => {
      for (let round = 0; round < 15; round++) {
        const own = await Runner.start(prefix);
        const provider = await own.openProvider(join(directory, 'early'));
        const sandbox = await provider.create(specOf());
        const mark = nap();
        const running = sh(sandbox, `sleep ${mark}`).catch(() => undefined);
        await pause(round * 4);
        await own.kill();
        await running;
        const left = () => [...processesWith(sandbox.sandboxId), ...processesWith(`sleep\0${mark}`)];
        await expect.poll(left, { timeout: 5_000 }).toEqual([]);
      }
    });

    it('has a way out to the hosts of its list, and to nobody else', async () => {
      const upstream = createServer((asked, answer) =>
        answer.end(`you asked ${asked.headers.host}${asked.url}`),
      ).listen(0, '127.0.0.1');
      await new Promise((resolve) => upstream.once('listening', resolve));
      await using own = await Runner.start(prefix);
      const { port } = upstream.address() as AddressInfo;
      const names = {
        'allowed.test': ['93.184.216.34'],
        'inner.test': ['127.0.0.1'],
        'other.test': ['93.184.216.34'],
      };
      await using limited = new Sandboxes(
        await own.openProvider(join(directory, 'limited'), { names, upstream: port }),
      );
      const network = { mode: 'limited' as const, allowedHosts: ['allowed.test', 'inner.test'] };
      const [sandbox, neighbour] = await Promise.all([limited.make({ network }), limited.make()]);
      const ask = (url: string) =>
        `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET ${url} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; head -c 1000 <&3 | head -1; exec 3>&-`;
      const { stdout } = await sh(
        sandbox,
        `echo $HTTPS_PROXY
        ${ask('http://allowed.test/path')}
        ${ask('http://other.test/')}
        ${ask('http://inner.test/')}
        (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>&1 | grep -o refused | head -1
        cat /proc/net/dev | tail -n +3 | cut -d: -f1`,
      );
      upstream.close();
      expect(stdout.split('\n').map((line) => line.trim())).toEqual([
        'http://127.0.0.1:3128',
        'HTTP/1.1 200 OK',
        'HTTP/1.1 403 Forbidden',
        'HTTP/1.1 403 Forbidden',
        'refused',
        'lo',
        '',
      ]);
      expect(own.log.map((line) => JSON.parse(line)).map(({ host, port: to }) => `${host} ${to}`)).toEqual([
        'other.test 80',
        'inner.test 80',
      ]);
      expect(
        (await sh(neighbour, '(exec 3<>/dev/tcp/127.0.0.1/3128) 2>&1 | grep -o refused | head -1')).stdout,
      ).toBe('refused\n');
    });
  });
}

if (isRoot) holds('a sandbox of bubblewrap under a service that is root', () => []);
holds('a sandbox of bubblewrap under a service of an ordinary user', (directory) =>
  ordinaryUser(NOBODY, directory),
);
