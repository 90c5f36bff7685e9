import { describe, expect, test } from '@jest/globals';
import { readProcessLimits } from './process-limits.ts';

const mib = 1_048_576;
const machine = { cores: 8, memoryBytes: 16_384 * mib };

function limitsOf(files: Readonly<Record<string, string>>) {
  return readProcessLimits({ readText: (path) => files[path], machine });
}

describe('the limits of a process', () => {
  test('the limits of a process are the machine’s if there is no cgroup', () => {
    expect(limitsOf({})).toEqual(machine);
  });

  test('the limits of a pod on cgroup v2 are its cpu.max and memory.max', () => {
    const files = {
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/cpu.max': '200000 100000\n',
      '/sys/fs/cgroup/memory.max': '536870912\n',
    };
    expect(limitsOf(files)).toEqual({ cores: 2, memoryBytes: 512 * mib });
  });

  test('the limit of a process may be a part of a core', () => {
    expect(limitsOf({ '/sys/fs/cgroup/cpu.max': '50000 100000\n' }).cores).toBe(0.5);
  });

  test('the limits of a process are the machine’s if cgroup v2 sets none', () => {
    const files = { '/sys/fs/cgroup/cpu.max': 'max 100000\n', '/sys/fs/cgroup/memory.max': 'max\n' };
    expect(limitsOf(files)).toEqual(machine);
  });

  test('the limits of a process are never more than the machine has', () => {
    const files = { '/sys/fs/cgroup/cpu.max': '6400000 100000\n', '/sys/fs/cgroup/memory.max': '1099511627776\n' };
    expect(limitsOf(files)).toEqual(machine);
  });

  test('the limits without a cgroup namespace are the smallest on the way up', () => {
    const pod = '/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-pod1.slice';
    const files = {
      '/proc/self/cgroup':
        '0::/kubepods.slice/kubepods-burstable.slice/kubepods-pod1.slice/cri-containerd-9f2c.scope\n',
      [`${pod}/cri-containerd-9f2c.scope/cpu.max`]: '300000 100000\n',
      [`${pod}/cri-containerd-9f2c.scope/memory.max`]: 'max\n',
      [`${pod}/cpu.max`]: '150000 100000\n',
      [`${pod}/memory.max`]: '268435456\n',
      '/sys/fs/cgroup/kubepods.slice/memory.max': '8589934592\n',
    };
    expect(limitsOf(files)).toEqual({ cores: 1.5, memoryBytes: 256 * mib });
  });

  test('the limits of a container on cgroup v1 are its quota and limit, although its path is the host’s', () => {
    const files = {
      '/proc/self/cgroup':
        '11:memory:/docker/5f1b\n8:cpu,cpuacct:/docker/5f1b\n1:name=systemd:/docker/5f1b\n0::/docker/5f1b\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '400000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '1073741824\n',
    };
    expect(limitsOf(files)).toEqual({ cores: 4, memoryBytes: 1_024 * mib });
  });

  test('the limits on cgroup v1 are those of a nested cgroup too', () => {
    const files = {
      '/proc/self/cgroup': '4:memory:/jobs/7\n1:cpu:/\n',
      '/sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes': '134217728\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    };
    expect(limitsOf(files)).toEqual({ cores: 8, memoryBytes: 128 * mib });
  });

  test('the limits are the machine’s if cgroup v1 says -1 and its huge number', () => {
    const files = {
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    };
    expect(limitsOf(files)).toEqual(machine);
  });

  test('the limits are not looked for outside the mount', () => {
    const files = { '/proc/self/cgroup': '0::/../../other\n', '/sys/fs/cgroup/memory.max': '268435456\n' };
    expect(limitsOf(files).memoryBytes).toBe(256 * mib);
  });
});
