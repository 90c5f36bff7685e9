import type { Command } from '@commander-js/extra-typings';
import type { Shell } from '../cli/shell.ts';
import { examine } from './examine.ts';

/** `doctor` */
export function addDoctorCommand(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description('check MongoDB, Redis, clocks and key files, and say how to mend what is wrong')
    .action(() => shell.conclude(examine(shell)));
}
