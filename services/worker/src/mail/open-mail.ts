import { createEmailChangeTokens, createEmailCodes, type KeySource } from '@auth-account/tokens';
import type { WorkerConfig } from '../config.ts';
import type { MailPort } from '../delivery/delivery.ts';
import { createMailConsumer } from './mail-consumer.ts';
import { loadMailTemplates } from './mail-templates.ts';
import { createReadMail, type ReadMailDeps } from './read-mail.ts';
import { createSealSecret } from './seal-secret.ts';

export interface OpenMailDeps {
  readonly config: Pick<WorkerConfig, 'MAIL_TEMPLATES_DIR'>;
  /** The server's keys. */
  readonly keys: KeySource;
}

/** Everything that mails need beyond the stores and a server that takes them. */
export interface MailParts {
  /** Binds them to the stores. */
  open(deps: Pick<ReadMailDeps, 'users' | 'challenges' | 'now'>): MailPort;
}

/** Reads the templates. Throws if a file is missing or wrong, or a key is no secret. */
export async function openMail({ config, keys }: OpenMailDeps): Promise<MailParts> {
  const renderMail = await loadMailTemplates(config.MAIL_TEMPLATES_DIR);
  const secrets = { emailCodes: createEmailCodes(keys), emailChangeTokens: createEmailChangeTokens(keys) };
  return {
    open(stores) {
      const readMail = createReadMail({ ...stores, ...secrets });
      return {
        openConsumer: (options, smtp, deps) => createMailConsumer(options, smtp, { ...deps, readMail, renderMail }),
        openSealer: (key) => createSealSecret(readMail, key),
      };
    },
  };
}
