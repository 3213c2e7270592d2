// The npm package `redlock` as its README shows it, with the settings it comes with: lock, extend, unlock over one
// ioredis client per node. This file only translates; see ../README.md for the words.
//
// `expiration` is in the wall clock's milliseconds. It is brought to the monotonic clock here, one millisecond less,
// since the wall clock was rounded down.
'use strict';

const readline = require('node:readline');
const Redis = require('ioredis');
const Redlock = require('redlock');

const RETRY_DELAY_MS = 50;

const nodes = (process.env.REDLOCK_NODES || '').split(',').filter((url) => url !== '');
if (nodes.length === 0) {
  process.stderr.write('npm-redlock: REDLOCK_NODES is empty; it has to list the nodes, as in redis://127.0.0.1:7001,...\n');
  process.exit(64);
}
const clients = nodes.map((url) => new Redis(url));
for (const client of clients) client.on('error', () => {}); // it connects again by itself
const redlock = new Redlock(clients, { retryCount: 0, retryDelay: RETRY_DELAY_MS, retryJitter: RETRY_DELAY_MS / 2 });
redlock.on('clientError', () => {}); // one node's; the votes tell

const held = new Map();
const now = () => process.hrtime.bigint() / 1000n;
const until = (lock) => now() + BigInt(lock.expiration - Date.now() - 1) * 1000n;
const say = (what, id, ...rest) => process.stdout.write([what, id, now(), ...rest].join(' ') + '\n');

async function acquire(id, name, ttl, wait) {
  try {
    const lock = await redlock.lockWithOptions('lock:' + name, ttl, { retryCount: Math.ceil(wait / RETRY_DELAY_MS) });
    held.set(id, lock);
    say('granted', id, until(lock), lock.value, '-');
  } catch (error) {
    say('failed', id, error instanceof Redlock.LockError ? 'lock_error' : 'error');
  }
}

async function extend(id, ttl) {
  try {
    say('extended', id, until(await held.get(id).extend(ttl)));
  } catch (error) {
    say('unextended', id, error instanceof Redlock.LockError ? 'lock_error' : 'error');
    say('lost', id); // a failed extension removes the lock's keys
  }
}

async function release(id) {
  const lock = held.get(id);
  held.delete(id);
  try {
    await lock.unlock();
    say('released', id, 'released');
  } catch (error) {
    say('released', id, 'unknown'); // it does not say what it found
  }
}

async function quit() {
  setTimeout(() => process.exit(0), 1000); // nodes that hang
  await Promise.allSettled([...held.values()].map((lock) => lock.unlock()));
  process.exit(0);
}

const input = readline.createInterface({ input: process.stdin });
input.on('line', (line) => {
  const [command, id, ...rest] = line.split(' ');
  if (command === 'acquire' && rest.length === 3) acquire(id, rest[0], Number(rest[1]), Number(rest[2]));
  else if (command === 'extend' && held.has(id)) extend(id, Number(rest[0]));
  else if (command === 'extend') say('unextended', id, 'unknown_id');
  else if (command === 'release' && held.has(id)) release(id);
  else if (command === 'release') say('released', id, 'unknown');
  else if (command === 'quit') quit();
  else process.stderr.write(`npm-redlock: "${line}" is no command\n`);
});
input.on('close', quit);
process.stdout.write(`ready npm-redlock ${require('redlock/package.json').version} extend\n`);
