#!/bin/bash
# Starts a program on a processor that this machine does not have: a machine emulated by qemu-system, whose files are this
# machine's own, read-only.
#
#   guest.sh boot FOLDER               makes FOLDER/kernel and FOLDER/initramfs of Debian's kernel and busybox
#   guest.sh run FOLDER MODEL TASK [OPTION...]
#                                      runs the script TASK on qemu's processor MODEL; FOLDER/MODEL is /mnt there, writable,
#                                      and keeps its output (log), its exit code (code) and what the kernel said (console);
#                                      OPTIONs are qemu's
#
# Needs the packages busybox-static, cpio and qemu-system-x86. The emulated machine has no network.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

boot() { # $1 folder
    mkdir -p "$1/tree/bin" "$1/tree/modules" "$1/package" "$1"/tree/{proc,sys,dev,host}
    local folder tree package name applet at
    folder=$(cd "$1" && pwd)
    tree=$folder/tree
    package=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p')
    (cd "$folder/package" && apt-get download "$package" && dpkg -x "$package"_*.deb .)
    # Unpacked here: an emulated processor would take longer over it than over all the rest of its start.
    local packed=("$folder"/package/boot/vmlinuz-*)
    at=$(LC_ALL=C grep -abom1 $'\xfd7zXZ' "${packed[0]}" | head -1 | cut -d: -f1)
    # xz ends where the kernel does, and complains of what follows, as does who still writes to it.
    { tail -c +$((at + 1)) "${packed[0]}" | xz -dcq --single-stream > "$folder/kernel"; } 2> /dev/null || true
    : > "$tree/modules/order"
    for name in virtio_pci 9pnet_virtio 9p; do with_dependencies "$folder" "$name"; done
    cp /bin/busybox "$tree/bin/"
    for applet in sh mount mkdir insmod chroot hostname poweroff sed sync; do ln -sf busybox "$tree/bin/$applet"; done
    cp "$here/init" "$tree/init"
    chmod +x "$tree/init"
    (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) > "$folder/initramfs"
    rm -r "$folder/package" "$tree"
}

with_dependencies() { # $1 folder, $2 module: after what it needs
    local file
    file=$(find "$1/package" -name "${2//_/[_-]}.ko")
    if [ -e "$1/tree/modules/$2" ]; then return; fi
    local needed
    for needed in $(tr '\0' '\n' < "$file" | sed -n 's/^depends=//p' | tr , ' '); do with_dependencies "$1" "$needed"; done
    cp "$file" "$1/tree/modules/$2"
    echo "$2" >> "$1/tree/modules/order"
}

run() { # $1 folder, $2 model, $3 task, then qemu's options
    local folder=$1 model=$2 task=$3 out=$1/$2
    shift 3
    mkdir -p "$out"
    rm -f "$out"/{task,log,code,console,qemu}
    cp "$task" "$out/task"
    timeout "${FLEET_SECONDS:-3600}" qemu-system-x86_64 -machine q35 -accel tcg -cpu "$model" -smp 1 -m 2G -display none \
        -nodefaults -no-reboot -kernel "$folder/kernel" -initrd "$folder/initramfs" -serial "file:$out/console" \
        -append "console=ttyS0 earlyprintk=serial mitigations=off panic=-1 fleet=$model" "$@" \
        -virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
        -virtfs "local,path=$out,mount_tag=out,security_model=none" 2> "$out/qemu"
}

"$@"
