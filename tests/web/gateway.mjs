// SPDX-License-Identifier: GPL-2.0-or-later
// A gateway with a kernel of its own: a lab with real IPVS, servers and a client, reached through a tap device. What the
// stories assert is what that kernel, its client and its name server show.
import {spawn} from 'node:child_process'
import net from 'node:net'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const API_PORT = 8443, CONTROL_PORT = 8444

export class Gateway {
	constructor(build, out) {
		Object.assign(this, {build, out, base: `http://127.0.0.1:${API_PORT}/ui/`, waiting: []})
	}

	async start() {
		this.process = spawn('/usr/bin/python3', [join(here, 'gateway_outside.py'), join(this.out, 'lab'), String(API_PORT), String(CONTROL_PORT)],
			{stdio: ['pipe', 'pipe', 'pipe'], env: {...process.env, BUILD: this.build}})
		this.said = ''
		this.process.stderr.on('data', part => { this.said += part })
		this.ended = new Promise(done => this.process.once('exit', done))
		const ready = new Promise(done => this.process.stdout.once('data', done))
		await Promise.race([ready, this.ended])
		if (this.process.exitCode !== null) throw new Error(this.said)
		this.control = net.connect(CONTROL_PORT, '127.0.0.1')
		this.control.on('error', fault => this.answerAll({fault: fault.message}))
		createInterface({input: this.control}).on('line', line => this.waiting.shift()?.(JSON.parse(line)))
	}

	answerAll(answer) { for (const done of this.waiting.splice(0)) done(answer) }

	/** Asks inside the lab; see gateway_inside.py for what there is. */
	async act(...words) {
		const answer = new Promise(done => this.waiting.push(done))
		this.control.write(JSON.stringify(words) + '\n')
		const {value, fault} = await answer
		if (fault) throw new Error(`${words[0]}: ${fault}`)
		return value
	}

	/** Ends the lab; a fault that showed only at the end comes out. */
	async stop() {
		if (!this.process) return
		if (this.control) await this.act('end').catch(() => undefined)
		this.process.stdin.end()
		await this.ended
		this.control?.destroy()
		if (this.process.exitCode !== 0) throw new Error(this.said)
	}
}
