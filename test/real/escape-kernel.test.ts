import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemCallNumbers } from '../../services/runner/kernel/seccomp/system-calls.ts';
import {
  describeBubblewrap,
  processesWith,
  SECRET,
  uniqueSeconds,
} from '../services/runner/sandbox/bubblewrap-suite.ts';
import { runScript } from '../services/runner/sandbox/run-script.ts';

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

/** Makes a raw system call. Strings are passed as pointers. */
const call = (name: string, ...args: (number | string)[]) => {
  const texts = args.filter((one) => typeof one === 'string');
  const passed = args.map((one) => (typeof one === 'string' ? `$s[${texts.indexOf(one)}]` : one));
  const given = [systemCallNumbers(architecture).get(name), ...passed].join(', ');
  return `perl -e '@s = (${texts.map((text) => `"${text}"`).join(', ')}); syscall(${given}); print "${name} $!\\n"';`;
};

describeBubblewrap('a sandbox and the kernel', (given) => {
  it('has no root user and no capability, and cannot gain any', async () => {
    const sandbox = await given.sandboxes.create();
    const { stdout } = await runScript(sandbox, 'id -u; cat /proc/self/uid_map /proc/self/status');
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
    const mark = uniqueSeconds();
    // Ends with the sandbox.
    const running = runScript(sandbox, `sleep ${mark}`, { timeoutMs: 60_000 });
    await expect.poll(() => processesWith(`sleep\0${mark}`).length, { timeout: 20_000 }).toBeGreaterThan(0);
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

  it('gains nothing from setuid programs', async () => {
    const sandbox = await given.sandboxes.create();
    const script = `cp /bin/bash own; chmod 6755 own; ./own -p -c 'id -u'; echo | su -c 'id -u' 2>/dev/null
      for f in /usr/bin/su /usr/bin/mount /usr/bin/passwd; do [ -u $f ] && $f --version > /dev/null 2>&1; done; grep -c nosuid /proc/self/mounts; wc -l < /proc/self/mounts`;
    const [own, ...rest] = (await runScript(sandbox, script)).stdout.trim().split('\n');
    expect(own).toBe('1000');
    expect(rest).not.toContain('0');
    const [withNosuid, all] = rest.slice(-2);
    expect(withNosuid).toBe(all);
  });

  it('cannot create namespaces or mounts', async () => {
    const sandbox = await given.sandboxes.create();
    const { stdout } = await runScript(
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
    expect((await runScript(sandbox, call('clone3', 0, 0))).stdout).toContain('Function not implemented');
    expect(
      (await runScript(sandbox, 'unshare -Ur true || unshare -m true || unshare -n true')).end.exitCode,
    ).not.toBe(0);
  });

  it('sees and signals only its own processes', async () => {
    const sandbox = await given.sandboxes.create();
    const script = `ls -d /proc/[0-9]* | wc -l; kill -9 ${given.runner.pid} && echo killed; kill -9 -1; echo still here`;
    const { stdout } = await runScript(sandbox, script);
    expect(Number(stdout.split('\n')[0])).toBeLessThan(8);
    expect(stdout).not.toContain('killed');
    expect((await runScript(sandbox, 'echo alive')).stdout).toBe('alive\n');
    const denied = ['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd'];
    const { stdout: output } = await runScript(
      sandbox,
      denied.map((name) => call(name, 0, 1, 0, 0, 0, 0)).join('\n'),
    );
    expect(output.match(/Operation not permitted/g)).toHaveLength(denied.length);
  });

  it('cannot use system calls with a history of sandbox escapes', async () => {
    const sandbox = await given.sandboxes.create();
    const denied = [
      ...['bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'],
      ...['keyctl', 'add_key', 'request_key', 'kexec_load', 'init_module', 'finit_module', 'delete_module'],
      ...['open_by_handle_at', 'swapon', 'reboot', 'sethostname', 'settimeofday', 'syslog', 'acct'],
    ];
    const { stdout } = await runScript(sandbox, denied.map((name) => call(name, 0, 0, 0, 0, 0)).join('\n'));
    expect(stdout.match(/Operation not permitted/g)).toHaveLength(denied.length);
    expect((await runScript(sandbox, call('ioctl', 0, 0x5412, 'x'))).stdout).toContain(
      'Operation not permitted',
    );
    for (const family of [9, 17, 29, 31, 38, 40, 44])
      expect((await runScript(sandbox, call('socket', family, 3, 0))).stdout).toContain(
        'not supported by protocol',
      );
  });

  it('has only harmless devices and cannot create others', async () => {
    const sandbox = await given.sandboxes.create();
    const { stdout } = await runScript(
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
    expect(
      (await runScript(sandbox, 'head -c 1 /dev/core /proc/kcore /proc/kmsg')).stdout.length,
    ).toBeLessThan(60);
  });

  it('cannot reach ports of the service, the network or sockets of the machine', async () => {
    const sandbox = await given.sandboxes.create();
    const server = createTcpServer((socket) => socket.end(SECRET)).listen(0, '0.0.0.0');
    const abstract = createTcpServer((socket) => socket.end(SECRET)).listen(`\0ahs-escape-${process.pid}`);
    const named = createTcpServer((socket) => socket.end(SECRET)).listen(join(given.directory, 'socket'));
    await Promise.all(
      [server, abstract, named].map((one) => one.listening || new Promise((r) => one.once('listening', r))),
    );
    const { port } = server.address() as AddressInfo;
    const unix = (path: string) =>
      `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("${path}")) and print <S>'`;
    const script = `for h in 127.0.0.1 localhost ::1 10.0.0.1 169.254.169.254; do (exec 3<>/dev/tcp/$h/${port} && cat <&3); done
      ${unix(`\\0ahs-escape-${process.pid}`)}; ${unix(join(given.directory, 'socket'))}
      cat /proc/net/dev | tail -n +3 | cut -d: -f1; find / -xdev -type s 2>/dev/null`;
    const { stdout } = await runScript(sandbox, script, { timeoutMs: 15_000 });
    for (const one of [server, abstract, named]) one.close();
    expect(stdout.trim()).toBe('lo');
  });

  it('passes no core dump to a program of the machine', async () => {
    const sandbox = await given.sandboxes.create();
    const { stdout } = await runScript(
      sandbox,
      'prlimit --core --output SOFT,HARD --noheadings; bash -c "kill -SEGV \\$\\$"; echo $?; ls -A',
    );
    expect(stdout.trim().split(/\s+/)).toEqual(['1', '1', '139']);
  });
});
