"""Render, compare and check apps, beside the floor and the typed client.

    python benchmarks/manifests.py [--apps 500] [--rounds 200]

The floor is what no renderer can beat: ten plain dicts like ours, made anew and dumped as JSON. The
typed client builds ten Deployments of that size from kubernetes.client models and serialises them.
Times are the best of five rounds; memory is the growth of resident pages in a fresh process.
"""

import argparse
import copy
import json
import platform
import subprocess
import sys
import timeit
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from apps.delivery.comparison import compare_all
from apps.delivery.context import as_context
from apps.delivery.manifests import baseline, runtime
from apps.delivery.policy import check_objects

INFRA = {"INGRESS_CLASS": "nginx", "KUBERNETES_VERSION": "1.34"}
IMAGE_REF = "registry.example/team/loja@sha256:" + "ab" * 32


def fields(number=0):
    return {
        "app_code": f"loja-{number}",
        "namespace": f"loja-{number}-main",
        "hostname": f"loja-{number}.apps.example",
        "image_repository": "registry.example/team/loja",
        "release_id": str(number),
        "replicas": 2,
        "custom_domains": [f"loja-{number}.example", f"www.loja-{number}.example"],
    }


def render(context):
    return baseline(context, INFRA) + runtime(context, INFRA, IMAGE_REF)


def floor():
    """Ten dicts of the same size as ours, without a rule."""
    labels = {"app.kubernetes.io/name": "loja", "app.kubernetes.io/managed-by": "pombo"}
    objects = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"x{place}", "namespace": "loja-main", "labels": dict(labels)},
            "spec": {
                "selector": {"matchLabels": {"app.kubernetes.io/name": "loja"}},
                "ports": [{"name": "http", "port": 80, "targetPort": "http"}],
                "template": {
                    "metadata": {"labels": dict(labels)},
                    "spec": {
                        "containers": [
                            {
                                "name": "central",
                                "image": IMAGE_REF,
                                "env": [{"name": "A", "value": "b"}],
                                "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
                            }
                        ]
                    },
                },
            },
        }
        for place in range(10)
    ]
    return json.dumps(objects)


def typed_deployments():
    """A Deployment from the client's models, serialised by the client, ten times."""
    from kubernetes import client

    serialiser = client.ApiClient()
    labels = {"app.kubernetes.io/name": "loja"}

    def build():
        probe = client.V1Probe(http_get=client.V1HTTPGetAction(path="/", port="http"))
        container = client.V1Container(
            name="central",
            image=IMAGE_REF,
            ports=[client.V1ContainerPort(name="http", container_port=8080)],
            env=[client.V1EnvVar(name="A", value="b")],
            readiness_probe=probe,
            resources=client.V1ResourceRequirements(requests={"cpu": "100m", "memory": "256Mi"}),
        )
        template = client.V1PodTemplateSpec(
            metadata=client.V1ObjectMeta(labels=labels),
            spec=client.V1PodSpec(containers=[container]),
        )
        spec = client.V1DeploymentSpec(
            selector=client.V1LabelSelector(match_labels=labels), template=template
        )
        deployment = client.V1Deployment(
            api_version="apps/v1",
            kind="Deployment",
            metadata=client.V1ObjectMeta(name="loja", labels=labels),
            spec=spec,
        )
        return serialiser.sanitize_for_serialization(deployment)

    return lambda: json.dumps([build() for _ in range(10)])


def best_us(work, rounds):
    """Microseconds of one call: the best of five rounds."""
    return min(timeit.repeat(work, number=rounds, repeat=5)) / rounds * 1e6


def import_cost(module):
    """Seconds and MiB that importing a module costs a fresh process."""
    script = (
        "import sys, time, resource\n"
        "def pages():\n"
        "    return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()\n"
        "before, start = pages(), time.perf_counter()\n"
        f"import {module}\n"
        "print(time.perf_counter() - start, (pages() - before) / 2**20)\n"
    )
    root = Path(__file__).resolve().parent.parent
    answers = [
        subprocess.check_output([sys.executable, "-c", script], cwd=root, text=True).split()
        for _ in range(5)
    ]
    return min(float(answer[0]) for answer in answers), min(float(answer[1]) for answer in answers)


def one_app(rounds):
    context = as_context(fields())
    deployment = runtime(context, INFRA, IMAGE_REF)[0]
    live = copy.deepcopy(render(context))
    floor_us = best_us(floor, rounds)
    rows = {
        "floor: ten plain dicts + json.dumps": floor_us,
        "context from a mapping, all objects, json.dumps": best_us(
            lambda: json.dumps(render(as_context(fields()))), rounds
        ),
        "all objects of a ready context": best_us(lambda: render(context), rounds),
        "comparison with equal live objects": best_us(
            lambda: compare_all(render(context), live), rounds
        ),
        "schema and rules": best_us(lambda: check_objects(live, INFRA), max(rounds // 20, 1)),
        "our Deployment alone + json.dumps": best_us(lambda: json.dumps(deployment), rounds),
        "typed client, ten Deployments": best_us(typed_deployments(), rounds),
    }
    print(f"one app, {len(live)} objects")
    for name, cost_us in rows.items():
        print(f"  {name:<50}{cost_us:>10.0f} µs{cost_us / floor_us:>8.1f} × floor")


def many_apps(count):
    contexts = [as_context(fields(number)) for number in range(count)]
    live = [copy.deepcopy(render(context)) for context in contexts]
    rendering = best_us(lambda: [render(context) for context in contexts], 1)
    comparing = best_us(
        lambda: [compare_all(render(c), held) for c, held in zip(contexts, live, strict=True)], 1
    )
    changed = [diff for held in live for diff in compare_all(held, held) if diff.needs_apply]
    if changed:
        sys.exit(f"{len(changed)} objects differ from themselves")
    print(f"{count} apps, {sum(map(len, live))} objects")
    print(f"  {'render':<50}{rendering / 1000:>10.0f} ms")
    print(f"  {'render and compare, nothing changed':<50}{comparing / 1000:>10.0f} ms")


def imports():
    print("import in a fresh process")
    for module in ("apps.delivery.manifests", "apps.delivery.supervisor", "kubernetes.client"):
        seconds, mebibytes = import_cost(module)
        print(f"  {module:<50}{seconds * 1000:>10.0f} ms{mebibytes:>8.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apps", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}")
    one_app(options.rounds)
    many_apps(options.apps)
    imports()


if __name__ == "__main__":
    main()
