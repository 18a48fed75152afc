/**
 * The numbers of system calls by architecture: those of Linux for x86-64 (arch/x86/entry/syscalls/syscall_64.tbl) and
 * for 64-bit ARM (include/uapi/asm-generic/unistd.h). A dash means that the architecture does not have the call.
 */

export type Architecture = 'x64' | 'arm64';

/** Architecture constants of the audit subsystem, which the kernel passes to filters. */
export const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const satisfies Record<Architecture, number>;

/** The newest system call that was reviewed for this table. The filter reports later calls as not implemented. */
export const NEWEST = 466;

const TABLE = `
  name                     x64  arm64
  _sysctl                  156  -
  acct                     163  89
  add_key                  248  217
  adjtimex                 159  171
  bpf                      321  280
  clock_adjtime            305  266
  clock_settime            227  112
  clone                    56   220
  clone3                   435  435
  create_module            174  -
  delete_module            176  106
  fallocate                285  47
  fanotify_init            300  262
  finit_module             313  273
  fsconfig                 431  431
  fsmount                  432  432
  fsopen                   430  430
  fspick                   433  433
  get_kernel_syms          177  -
  init_module              175  105
  io_uring_enter           426  426
  io_uring_register        427  427
  io_uring_setup           425  425
  ioctl                    16   29
  ioperm                   173  -
  iopl                     172  -
  kcmp                     312  272
  kexec_file_load          320  294
  kexec_load               246  104
  keyctl                   250  219
  lookup_dcookie           212  18
  mbind                    237  235
  memfd_secret             447  447
  migrate_pages            256  238
  modify_ldt               154  -
  mount                    165  40
  mount_setattr            442  442
  move_mount               429  429
  move_pages               279  239
  nfsservctl               180  42
  open_by_handle_at        304  265
  open_tree                428  428
  perf_event_open          298  241
  personality              135  92
  pidfd_getfd              438  438
  pivot_root               155  41
  process_madvise          440  440
  process_mrelease         448  448
  process_vm_readv         310  270
  process_vm_writev        311  271
  ptrace                   101  117
  query_module             178  -
  quotactl                 179  60
  quotactl_fd              443  443
  reboot                   169  142
  request_key              249  218
  set_mempolicy            238  237
  set_mempolicy_home_node  450  450
  setdomainname            171  162
  sethostname              170  161
  setns                    308  268
  settimeofday             164  170
  socket                   41   198
  socketpair               53   199
  swapoff                  168  225
  swapon                   167  224
  sysfs                    139  -
  syslog                   103  116
  umount2                  166  39
  unshare                  272  97
  uselib                   134  -
  userfaultfd              323  282
  ustat                    136  -
  vhangup                  153  58
  vserver                  236  -
`;

const ROWS = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((line) => line.trim().split(/\s+/));

/** Returns the numbers of the system calls in this table, by name. */
export function systemCallNumbers(architecture: Architecture): ReadonlyMap<string, number> {
  const column = architecture === 'x64' ? 1 : 2;
  return new Map(
    ROWS.flatMap((row) => {
      const [name = '', number = '-'] = [row[0], row[column]];
      return number === '-' ? [] : [[name, Number(number)] as const];
    }),
  );
}
