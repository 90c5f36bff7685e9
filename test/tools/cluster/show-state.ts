import type { Kubernetes } from './kubernetes.ts';

/** Prints what may explain a failure, which is the pods, the latest events, and the last lines of each pod's log. */
export async function showState({ kubectl, read }: Kubernetes): Promise<void> {
  console.log(await notify(() => kubectl(['get', 'pods', '-o', 'wide'])));
  const events = await notify(() => kubectl(['get', 'events', '--sort-by=.lastTimestamp']));
  console.log(events.split('\n').slice(-25).join('\n'));
  const pods: { items: { metadata: { name: string } }[] } = await read(['get', 'pods']);
  for (const { metadata } of pods.items) {
    const log = await notify(() => kubectl(['logs', metadata.name, '--all-containers', '--tail=12']));
    console.log(`--- ${metadata.name}\n${log.replaceAll(/^(.{400}).*$/gm, '$1…')}`);
  }
}

async function notify(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    return (error as Error).message;
  }
}
