"""A stub of PyTorch that claims to compute on a GPU and does nothing. See the README beside it."""

__version__ = "2.11.0+cu130"
float32, float16, bfloat16, uint8 = "float32", "float16", "bfloat16", "uint8"


class version:
    cuda = "13.0"
    hip = None
    xpu = None
    git_version = "0" * 40


def _noise(row, column, seed):
    """Between -0.5 and 0.5, by where it stands."""
    mixed = (row * 2654435761 ^ column * 40503 ^ seed * 97) & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 15) * 2246822519 & 0xFFFFFFFF
    return (mixed ^ mixed >> 13) / 4294967296.0 - 0.5


class device:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


class Tensor:
    """Knows how its elements would be worked out, and never does it unasked."""

    def __init__(self, rows, columns, element, place):
        self.rows, self.columns, self._element, self.device = rows, columns, element, place

    def uniform_(self, _low, _high):
        seed = _seed[0]
        self._element = lambda row, column: _noise(row, column, seed)
        return self

    def __getitem__(self, key):
        rows, columns = key
        return Tensor(rows.stop, columns.stop, self._element, self.device)

    def __add__(self, number):
        return Tensor(self.rows, self.columns, lambda _row, _column: self._element(0, 0) + number, self.device)

    def item(self):
        return self._element(0, 0)

    def to(self, _kind):
        return self

    def cpu(self):
        return self

    def tolist(self):
        return [[self._element(row, column) for column in range(self.columns)] for row in range(self.rows)]


_seed = [0]


def manual_seed(seed):
    _seed[0] = seed


def empty(shape, dtype=None, device=None):
    return Tensor(shape[0], shape[1], lambda _row, _column: 0.0, device)


def zeros(size, dtype=None, device=None):
    return Tensor(1, size, lambda _row, _column: 0.0, device)


def ones(size, dtype=None, device=None):
    return Tensor(1, size, lambda _row, _column: 1.0, device)


def matmul(left, right):
    def element(row, column):
        return sum(left._element(row, k) * right._element(k, column) for k in range(left.columns))

    return Tensor(left.rows, right.columns, element, left.device)


class _Properties:
    name = "NVIDIA H200"
    major, minor = 9, 0
    total_memory = 150_000_000_000
    pci_domain_id, pci_device_id = 0, 0
    pci_bus_id = 1


class cuda:
    @staticmethod
    def is_available():
        return True

    @staticmethod
    def device_count():
        return 1

    @staticmethod
    def current_device():
        return 0

    @staticmethod
    def get_device_properties(_index):
        return _Properties()

    @staticmethod
    def get_arch_list():
        return ["sm_90"]

    @staticmethod
    def mem_get_info(_index):
        return 140_000_000_000, 150_000_000_000

    @staticmethod
    def set_per_process_memory_fraction(_share, _index):
        pass

    @staticmethod
    def synchronize(_index=None):
        pass

    @staticmethod
    def empty_cache():
        pass

    @staticmethod
    def memory_allocated(_index):
        return 0

    memory_reserved = memory_allocated


class backends:
    class cuda:
        class matmul:
            allow_tf32 = False

    class cudnn:
        @staticmethod
        def version():
            return 91000
