import type { Command } from '@commander-js/extra-typings';
import { examine } from '../doctor/examine.ts';
import type { Shell } from '../shell.ts';

/** `doctor` */
export function addDoctorCommand(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description('check MongoDB, Redis, clocks and key files, and say how to mend what is wrong')
    .action(() => shell.conclude(examine(shell)));
}
